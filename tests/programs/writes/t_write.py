# T write
# expect: right
def f(x, c):
    a = np.outer(x, x)
    a.T[0] = c
    return np.sum(a * a)
