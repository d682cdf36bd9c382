"""Predators and prey, after Lotka and Volterra, by the Runge-Kutta method of fourth order."""


def rates(prey: float, predators: float, birth: float, hunt: float, feed: float, death: float):
    """How fast both populations grow."""
    return birth * prey - hunt * prey * predators, feed * prey * predators - death * predators


def predators_after(
    prey: float,
    predators: float,
    birth: float,
    hunt: float,
    feed: float,
    death: float,
    steps: int,
    h: float,
):
    """The number of predators after `steps` steps of length h; all numbers."""
    x = prey
    y = predators
    for _ in range(steps):
        x1, y1 = rates(x, y, birth, hunt, feed, death)
        x2, y2 = rates(x + 0.5 * h * x1, y + 0.5 * h * y1, birth, hunt, feed, death)
        x3, y3 = rates(x + 0.5 * h * x2, y + 0.5 * h * y2, birth, hunt, feed, death)
        x4, y4 = rates(x + h * x3, y + h * y3, birth, hunt, feed, death)
        x = x + h / 6.0 * (x1 + 2.0 * x2 + 2.0 * x3 + x4)
        y = y + h / 6.0 * (y1 + 2.0 * y2 + 2.0 * y3 + y4)
    return y
