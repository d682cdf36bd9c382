# dot of displays
# expect: right
def f(x, c):
    return np.dot([c, x[0]], [x[1], c])
