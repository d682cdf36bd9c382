# keys that come and go in a loop
# expect: right
def f(x, c):
    d = {"a": c, "b": x[0] * c, "e": x[1]}
    for k in ["a", "b"]:
        v = d.pop(k)
        d[k + "2"] = v * v
        del d["e"]
        d["e"] = c
    return sum(d.values())
