# row carried
# expect: right
def f(x, c):
    a = np.outer(x, x)
    r = a[0]
    for i in range(3):
        a[0, i] = np.sum(r) * c
        r = a[i]
    return np.sum(r)
