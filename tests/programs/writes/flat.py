# flat
# expect: E5010
def f(x, c):
    a = np.outer(x, x)
    a.flat[3] = c
    return np.sum(a * a)
