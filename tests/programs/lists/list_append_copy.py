# list append copy
# expect: right
def f(x, c):
    u = x.copy()
    hs = []
    for i in range(3):
        hs.append(u.copy())
        u[0] = u[1] * c
        u[1] = np.sin(u[0])
    return np.sum(hs[0] * hs[2])
