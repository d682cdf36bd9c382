# result of a callee in a container 5
# expect: E5010
def g(a):
    return a
def f(x, c):
    a = x * c
    l = []
    l.append(g(a))
    l.append(g(a))
    a[0] = 7.0
    return np.sum(l[0] * x)
