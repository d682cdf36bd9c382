# two rows at once
# expect: E5010
def f(x, c):
    a = np.outer(x, x)
    r, s = a[0], a[1]
    a[0, 0] = c
    return np.sum(r * s)
