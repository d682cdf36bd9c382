# row then write
# expect: E5010
def f(x):
    a = np.outer(x, x)
    r = a[0]
    a[0, 1] = 3.0
    return np.sum(r)
ARGS = (np.array([1.0, 2.0]),)
