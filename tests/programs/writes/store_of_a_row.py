# store of a row
# expect: right
def f(x, c):
    a = np.zeros(4)
    a[:] = x[None, :] * c
    return np.sum(a * a)
