# float parameter becomes an array 2
# expect: right
def f(x, b, c):
    s = np.sum(x)
    if c > 0:
        b = x
    return np.sum(s * b)
ARGS = (np.array([0.3, 0.4]), 0.7, 0.6)
