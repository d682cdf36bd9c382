# get that gives None
# expect: right
def f(x, c):
    d = {"a": c}
    e = d.get("q")
    if e is None:
        return d["a"] * 2.0
    return e
