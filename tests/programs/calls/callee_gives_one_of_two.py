# callee gives a if i == 0 else a * 2.0
# expect: E5010
def ident(a, i):
    return a if i == 0 else a * 2.0
def f(x, c):
    a = x * c
    v = ident(a, 0)
    a[0] = 7.0
    return np.sum(v * x[0])
