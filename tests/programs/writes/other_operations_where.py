# other operations where
# expect: right
def f(x, c):
    y = np.arccosh(x + 1.0, out=np.zeros(4), where=x > 0.1) * np.power(c, x, out=np.ones(4), where=[True, False] * 2)
    np.multiply(y, x, out=y, where=y > 0.2)
    return np.sum(y * y)
