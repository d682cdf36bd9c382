# a function of the user called map
# expect: right
def map(a, b):
    return np.sum(a) * b
def f(x, c):
    return map(x, c)
