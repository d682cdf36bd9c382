# del
# expect: right
def f(x, c):
    y = x * c
    z = np.sum(y)
    del y
    return z
