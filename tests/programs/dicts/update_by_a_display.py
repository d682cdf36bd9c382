# update by a display
# expect: right
def f(x, c):
    p = {"w": c, "b": x[1]}
    p.update({"w": c * c})
    return p["w"] * p["b"]
