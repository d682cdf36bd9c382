# functions of arrays that take numbers too: a write into an argument on trial, or behind a guard
# expect: right
def clipped(a):
    try:
        a[a < 0] = 0.1
    except TypeError:
        if a < 0:
            a = 0.1
    return a**2


def filled(a):
    if np.ndim(a) > 0:
        a[0] = 3.0
    return a * a


def f(x, c):
    return np.sum(clipped(x * c)) + clipped(c) + np.sum(filled(x * c)) + filled(c)
