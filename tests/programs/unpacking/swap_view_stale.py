# swap view stale
# expect: E5010
def f(x, c):
    a = x.copy()
    b = np.ones(4)
    v = a[1:]
    a, b = b, a
    b[1] = c
    return np.sum(v) * np.sum(a * b)
