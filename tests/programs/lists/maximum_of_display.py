# maximum of display
# expect: right
def f(x, c):
    return np.sum(np.maximum([c, x[0]], 0.5))
