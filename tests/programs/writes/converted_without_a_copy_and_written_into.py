# converted without a copy and written into
# expect: E5010
def f(x, c):
    y = x * c
    z = y.astype(float, copy=False)
    z[0] = c
    return np.sum(y * z)
