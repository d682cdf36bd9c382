# one array, two names at once
# expect: right
def f(x, c):
    a = b = np.zeros(3)
    a[0] = c * x[1]
    return b[0] * x[0]
