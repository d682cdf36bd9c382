# partial
# expect: right
def g(k, a):
    return k * a
h = functools.partial(g, 3.0)
def f(x, c):
    return h(c) * x[0]
