# add.at of a display
# expect: right
def f(x, c):
    a = np.zeros(3)
    np.add.at(a, [0, 1, 1], [c, x[0], c])
    return np.sum(a * a)
