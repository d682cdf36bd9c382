# jacobi
# expect: right
def f(u, c):
    u = u.copy()
    n = u.copy()
    for k in range(3):
        for i in range(1, 3):
            n[i] = 0.5 * (u[i - 1] + u[i + 1]) * c + n[i] * 0.1
        u, n = n, u
    return np.sum(u * n)
