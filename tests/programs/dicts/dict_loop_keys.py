# dict loop keys
# expect: right
def f(x, c):
    d = {}
    for k in ("a", "b"):
        d[k] = c * x[0]
        c = np.sin(c)
    s = 0.0
    for k in d:
        s += d[k] ** 2
    for k, v in d.items():
        s += v * x[1]
    for v in d.values():
        s *= v
    return s
