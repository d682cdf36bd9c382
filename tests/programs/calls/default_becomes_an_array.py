# default becomes an array
# expect: right
def g(x, b=1.0):
    s = np.sum(x)
    for i in range(1):
        b = x * s
    return np.sum(b)
def f(x, c):
    return g(x) * c
