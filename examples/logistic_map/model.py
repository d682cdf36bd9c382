"""The logistic map, a loop on numbers; its derivative grows without bound where the map is chaotic."""


def orbit_sum(x: float, r: float, n: int):
    """The sum of the first n points after x of the orbit x -> r x (1 - x)."""
    s = 0.0
    for _ in range(n):
        x = r * x * (1.0 - x)
        s = s + x
    return s
