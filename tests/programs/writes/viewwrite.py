# viewwrite
# expect: right
def f(x, c):
    a = x.copy()
    v = a[1:]
    v[0] = c
    return np.sum(a * a)
