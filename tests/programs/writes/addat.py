# addat
# expect: right
def f(x, c):
    a = np.zeros(3)
    np.add.at(a, np.array([0, 2, 0, 1]), x * c)
    return np.sum(a * a)
