# callee gives parts
# expect: E5010
def parts(a):
    return a[:2], a[2:]
def f(x, c):
    a = x * c
    v, w = parts(a)
    a[0] = 7.0
    return np.sum(v * w)
