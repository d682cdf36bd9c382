# piecewise
# expect: right
def f(x, c):
    low = np.piecewise(x, [x < 0.0, x > 1.0], [lambda t: t * t * c, -1.0])
    all_ = np.piecewise(x, [x < 0.35, x < 0.0], [np.sin, lambda t: 3.0 * t, lambda t: np.sum(t) * t])
    return np.sum(low * x) + np.sum(np.piecewise(x, (x < 0.0,), (lambda t, k: t * k, lambda t, k: k), c) * all_)
