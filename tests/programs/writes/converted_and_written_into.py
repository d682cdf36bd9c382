# converted and written into
# expect: right
def f(x, c):
    y = x.astype(float)
    y[0] = c * y[1]
    y *= 2.0
    z = x.astype(np.float64, copy=False) * y
    return np.sum(z * x)
