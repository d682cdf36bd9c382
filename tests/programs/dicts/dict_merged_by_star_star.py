# dict merged by **
# expect: right
def f(x, c):
    p = {"w": c, "b": x[1]}
    q = {**p, "z": c * 2.0}
    return q["w"] * q["z"] * q["b"]
