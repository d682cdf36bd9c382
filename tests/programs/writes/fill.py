# fill
# expect: right
def f(x, c):
    a = np.empty(4)
    a.fill(c)
    a[1] = x[0]
    return np.sum(a * x)
