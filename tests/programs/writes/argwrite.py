# argwrite
# expect: right
def f(x, c):
    x[0] = c
    x *= 2.0
    return np.sum(x * x)
