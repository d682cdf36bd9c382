# setdefault and pop of a dict
# expect: right
def f(x, c):
    p = {"w": c, "b": x[1]}
    p.setdefault("k", c)
    b = p.pop("b")
    return p["w"] * p["k"] * b * len(p)
