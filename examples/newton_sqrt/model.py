"""The square root by Newton's method: the number of steps depends on the argument."""


def newton_sqrt(a: float):
    """a, a positive number."""
    x = a
    while abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    return x
