"""Loops over numbers: Newton's method, the logistic map, Lotka and Volterra's equations."""


def newton(a):
    """The square root of `a`."""
    x = a
    while abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    return x


def newton_hand(a):
    """Keeps what each trip began with."""
    x = a
    kept = []
    while abs(x * x - a) > 1e-12 * a:
        kept.append(x)
        x = 0.5 * (x + a / x)
    value = x

    a_bar = 0.0
    x_bar = 1.0
    while kept:
        x = kept.pop()
        x_bar *= 0.5
        a_bar += x_bar / x
        x_bar -= x_bar * a / (x * x)
    return value, a_bar + x_bar


def logistic(x, r, n):
    """The sum of an orbit of the logistic map."""
    s = 0.0
    for _ in range(n):
        x = r * x * (1.0 - x)
        s += x
    return s


def logistic_hand(x, r, n):
    """Keeps what each trip began with."""
    s = 0.0
    kept = []
    for _ in range(n):
        kept.append(x)
        x = r * x * (1.0 - x)
        s += x

    x_bar = 0.0
    r_bar = 0.0
    for _ in range(n):
        x = kept.pop()
        x_bar += 1.0
        r_bar += x_bar * x * (1.0 - x)
        x_bar *= r * (1.0 - 2.0 * x)
    return s, (x_bar, r_bar)


def rates(x, y, a, b, g, d):
    """How prey and predators change."""
    return a * x - b * x * y, d * x * y - g * y


def predators(x, y, a, b, g, d, n, h):
    """`n` steps of the classical Runge-Kutta method; the sum of both at the end."""
    for _ in range(n):
        k1x, k1y = rates(x, y, a, b, g, d)
        k2x, k2y = rates(x + 0.5 * h * k1x, y + 0.5 * h * k1y, a, b, g, d)
        k3x, k3y = rates(x + 0.5 * h * k2x, y + 0.5 * h * k2y, a, b, g, d)
        k4x, k4y = rates(x + h * k3x, y + h * k3y, a, b, g, d)
        x = x + h / 6.0 * (k1x + 2.0 * k2x + 2.0 * k3x + k4x)
        y = y + h / 6.0 * (k1y + 2.0 * k2y + 2.0 * k3y + k4y)
    return x + y


def rates_back(x, y, a, b, g, d, u_bar, v_bar):
    """The pullback of `rates`."""
    w_bar = d * v_bar - b * u_bar
    xy = x * y
    return a * u_bar + w_bar * y, w_bar * x - g * v_bar, u_bar * x, -u_bar * xy, -v_bar * y, v_bar * xy


def predators_hand(x, y, a, b, g, d, n, h):
    """Keeps where each of the four slopes of a step was taken."""
    kept = []
    for _ in range(n):
        k1x, k1y = rates(x, y, a, b, g, d)
        x2, y2 = x + 0.5 * h * k1x, y + 0.5 * h * k1y
        k2x, k2y = rates(x2, y2, a, b, g, d)
        x3, y3 = x + 0.5 * h * k2x, y + 0.5 * h * k2y
        k3x, k3y = rates(x3, y3, a, b, g, d)
        x4, y4 = x + h * k3x, y + h * k3y
        k4x, k4y = rates(x4, y4, a, b, g, d)
        kept.append((x, y, x2, y2, x3, y3, x4, y4))
        x = x + h / 6.0 * (k1x + 2.0 * k2x + 2.0 * k3x + k4x)
        y = y + h / 6.0 * (k1y + 2.0 * k2y + 2.0 * k3y + k4y)
    value = x + y

    x_bar = y_bar = 1.0
    a_bar = b_bar = g_bar = d_bar = 0.0
    for _ in range(n):
        x, y, x2, y2, x3, y3, x4, y4 = kept.pop()
        u, v = h / 6.0 * x_bar, h / 6.0 * y_bar
        p4, q4, a4, b4, g4, d4 = rates_back(x4, y4, a, b, g, d, u, v)
        p3, q3, a3, b3, g3, d3 = rates_back(x3, y3, a, b, g, d, 2.0 * u + h * p4, 2.0 * v + h * q4)
        p2, q2, a2, b2, g2, d2 = rates_back(x2, y2, a, b, g, d, 2.0 * u + 0.5 * h * p3, 2.0 * v + 0.5 * h * q3)
        p1, q1, a1, b1, g1, d1 = rates_back(x, y, a, b, g, d, u + 0.5 * h * p2, v + 0.5 * h * q2)
        x_bar += p1 + p2 + p3 + p4
        y_bar += q1 + q2 + q3 + q4
        a_bar += a1 + a2 + a3 + a4
        b_bar += b1 + b2 + b3 + b4
        g_bar += g1 + g2 + g3 + g4
        d_bar += d1 + d2 + d3 + d4
    return value, (x_bar, y_bar, a_bar, b_bar, g_bar, d_bar)
