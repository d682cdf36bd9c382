# result of a callee in a container 4
# expect: E5010
def g(a):
    return a
def f(x, c):
    a = x * c
    l = [g(a) for i in range(2)]
    a[0] = 7.0
    return np.sum(l[0] * x)
