# divide where
# expect: right
def f(x, c):
    z = np.full_like(x, -2.0)
    np.divide(c, x, out=z, where=x > 0.35)
    z = np.divide(z, c, out=z, where=x < 0.0)
    return np.sum(z * z * x) + np.sum(np.log(x, out=np.zeros_like(x), where=x > 0.0) * x)
