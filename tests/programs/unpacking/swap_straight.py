# swap straight
# expect: right
def f(x, c):
    a = x.copy()
    b = np.zeros(4)
    b[0] = c * a[1]
    a, b = b, a
    a[1] = b[2] * a[0]
    return np.sum(a * b)
