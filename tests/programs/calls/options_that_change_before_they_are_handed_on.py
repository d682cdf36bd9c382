# options that change before they are handed on
# expect: E5005
def g(x, k=1.0):
    return np.sum(x) * k
def h(x, **options):
    options["k"] = x[0]
    return g(x, **options)
def f(x, c):
    return h(x, k=c)
