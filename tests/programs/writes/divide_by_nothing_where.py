# divide by nothing where
# expect: right
def f(x, c):
    parts = np.array([0.0, 1.0, 2.0, 0.0]) * c
    return np.sum(np.divide(x, parts, out=np.zeros_like(x), where=parts != 0.0) ** 2)
