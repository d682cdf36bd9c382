# ndarray
# expect: right
def f(x, c):
    a = np.ndarray(4)
    a[:] = x * c
    return np.sum(a * a)
