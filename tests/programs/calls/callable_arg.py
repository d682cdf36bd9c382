# callable arg
# expect: right
def g(h, a):
    return h(a) * 2.0
def f(x, c):
    return np.sum(g(np.sin, x)) * c
