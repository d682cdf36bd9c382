# sqrt of display
# expect: right
def f(x, c):
    return np.sum(np.sqrt([c, x[0]]))
