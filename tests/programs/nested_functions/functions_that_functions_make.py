# functions that functions make
# expect: right
def poly(a, b=2.0, *, shift=0.5):
    scale = a * b
    def value(t):
        low = t - shift
        return scale * low * low
    return value
def tilted(k):
    return lambda t: k * t
def applied(g, t):
    return g(t) + 1.0
def f(x, c):
    def around(k):
        def g(t):
            return k * np.sin(t) * c
        return g
    g = around(x[0])
    value = poly(x[1], shift=c)
    total = 0.0
    for v in x:
        each = tilted(v)
        total += each(c) * value(v)
    return total + np.sum(g(value(x))) + tilted(x[2])(x[3]) + applied(poly(c, x[1]), x[0])
