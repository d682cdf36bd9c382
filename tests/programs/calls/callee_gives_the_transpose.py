# callee gives a.T
# expect: right
def ident(a, i):
    return a.T
def f(x, c):
    a = x * c
    v = ident(a, 0)
    a[0] = 7.0
    return np.sum(v * x[0])
