# update reads itself
# expect: right
def f(x, c):
    d = {"a": c, "b": x[0]}
    d.update({"a": d["b"] * 2.0, "b": d["a"] * 3.0})
    return d["a"] * d["b"] * d["b"]
