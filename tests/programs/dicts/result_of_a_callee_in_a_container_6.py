# result of a callee in a container 6
# expect: right
def g(a):
    return a
def f(x, c):
    a = x * c
    l = {0: c}
    l[0] = g(a)
    a[0] = 7.0
    return np.sum(l[0] * x)
