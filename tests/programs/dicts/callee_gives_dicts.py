# callee gives dicts
# expect: right
def make(x, c):
    return [{"w": v * c, "b": c} for v in x]
def f(x, c):
    s = 0.0
    for d in make(x, c):
        s = s + d["w"] * d["b"]
    return s
