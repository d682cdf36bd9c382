# dictitems
# expect: right
def f(x, c):
    d = {"a": c, "b": x[0]}
    s = 0.0
    for k, v in d.items():
        s += v * v
    return s
