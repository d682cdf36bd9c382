# options of which one is taken out
# expect: right
def g(x, y=1.0, k=5.0):
    return np.sum(x) * k + y
def h(x, **options):
    k = options.pop("k", 3.0)
    return g(x, **options) * k
def f(x, c):
    return h(x, k=c, y=x[0]) + h(x, y=c) + h(x)
