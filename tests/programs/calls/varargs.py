# varargs
# expect: right
def g(*xs):
    s = 0.0
    for v in xs:
        s += v * v
    return s
def f(x, c):
    return g(c, x[0], x[1])
