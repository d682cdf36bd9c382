# conditional read
# expect: right
def f(x, c):
    m = np.outer(x, x)
    m[1] = np.sin(m[2] if c > 0 else c)
    return np.sum(m)
