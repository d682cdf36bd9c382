# lambda
# expect: right
def f(x, c):
    g = lambda a: a * c + x[0]
    return g(c) * g(x[1])
