# result of a callee in a container 3
# expect: E5010
def g(a):
    return a
def f(x, c):
    a = x * c
    l = []
    l.extend([g(a), x])
    a[0] = 7.0
    return np.sum(l[0] * x)
