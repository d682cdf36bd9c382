# dict set
# expect: right
def f(x, c):
    d = {}
    d["a"] = c * x[0]
    d["b"] = d["a"] * c
    return d["b"]
