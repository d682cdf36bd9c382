# dict built up
# expect: right
def f(x, c):
    s = {"a": c}
    s["b"] = s["a"] * x[0]
    s.update({"c": s["b"] * c})
    return sum(s.values())
