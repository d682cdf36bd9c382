# slices
# expect: right
def f(x, c):
    n = x.size
    a = np.zeros((n, n))
    for i in range(n):
        a[i, i:] = x[i:] * c
        a[i:, i] += x[i]
    return np.sum(a ** 2)
