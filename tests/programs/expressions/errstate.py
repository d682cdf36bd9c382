# errstate
# expect: right
def f(x, c):
    with np.errstate(divide="ignore"):
        y = x / c
    return np.sum(y)
