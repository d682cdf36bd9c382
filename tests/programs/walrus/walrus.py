# walrus
# expect: right
def f(x, c):
    if (t := c * x[0]) > 0:
        return t * t
    return t
