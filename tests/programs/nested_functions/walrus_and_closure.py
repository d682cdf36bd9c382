# walrus and closure
# expect: E5010
def f(x, c):
    t = c
    def g():
        return t * x[0]
    return g() * (t := x[1])
