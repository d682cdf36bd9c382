# writes into what asarray, atleast_1d, insert, a sort of rows give, and into a number behind a guard
# expect: right
def cleaned(v, deg):
    if deg:
        v = np.radians(v)
    u, w = v, v
    u[u < 0] = 0.1
    return np.sum(u**2)


def raised(t):
    y = 3.0 - t**2
    if not np.isscalar(y):
        np.place(y, y < 2, 2)
    elif y < 0:
        return 0.0
    return np.sum(np.sqrt(y))


def f(x, c):
    a = np.atleast_1d(np.asarray(x))
    a[a < 0] = c
    b = np.insert(a, 1, 3.0)
    b[1] = b[0] * c
    rows = np.outer(b, a)
    rows = rows[rows[:, 1].argsort()]
    rows[0, 1] = rows[0, 0] * c
    return np.sum(rows**2 * np.arange(4)) + raised(c) + raised(b) + cleaned(b * c, True)
