# tuple stored in dict
# expect: right
def f(x, c):
    d = {}
    d["k"] = (x[1], c)
    return d["k"][0] * d["k"][1]
