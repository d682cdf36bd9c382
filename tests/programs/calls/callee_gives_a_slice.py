# callee gives a[1:]
# expect: right
def ident(a, i):
    return a[1:]
def f(x, c):
    a = x * c
    v = ident(a, 0)
    a[0] = 7.0
    return np.sum(v * x[0])
