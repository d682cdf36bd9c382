# argument scaled in place
# expect: right
def f(x, c):
    x *= 2.0
    x += c
    return np.sum(x * x * x)
