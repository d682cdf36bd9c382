# callee gives np.asarray(a)
# expect: E5010
def ident(a, i):
    return np.asarray(a)
def f(x, c):
    a = x * c
    v = ident(a, 0)
    a[0] = 7.0
    return np.sum(v * x[0])
