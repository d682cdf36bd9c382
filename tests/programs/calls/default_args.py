# default args
# expect: right
def g(a, b=2.0, *, k=3.0):
    return a * b * k
def f(x, c):
    return g(c) + g(c, x[0]) + g(c, k=x[1])
