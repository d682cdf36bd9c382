# tuple return call
# expect: right
def g(a, b):
    return a * b, a + b
def f(x, c):
    p, q = g(c, x[0])
    r = g(p, q)
    return r[0] * r[1]
