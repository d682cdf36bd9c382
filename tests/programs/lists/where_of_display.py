# where of display
# expect: right
def f(x, c):
    return np.sum(np.where(x[:2] > 0, [c, x[0]], 0.0))
