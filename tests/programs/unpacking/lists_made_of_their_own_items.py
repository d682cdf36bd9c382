# lists made of their own items
# expect: right
def blended(points, t):
    points = [2.0 * p for p in points]
    while len(points) > 1:
        points = [(1.0 - t) * a + t * b for a, b in zip(points[:-1], points[1:])]
    return points[0]
def f(x, c):
    levels = list(x)
    levels = [v * c for v in levels]
    low, high = (v * v for v in (levels[0], levels[3]))
    made = {"low": low}
    made.update(high=high, both=low * high)
    return blended(x, c) + made["low"] * made["high"] + made["both"]
