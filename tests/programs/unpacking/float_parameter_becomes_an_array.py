# float parameter becomes an array
# expect: right
def f(a, z, b):
    c = np.sum(z)
    if b > 0:
        a, b = b, a
    return np.sum(c * b)
ARGS = (np.array([0.3, 0.4]), np.array([0.5, 0.7]), 0.6)
