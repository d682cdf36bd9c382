# get with and without the key
# expect: right
def f(x, c):
    d = {"a": c}
    return d.get("a", 1.0) * x[0] + d.get("b", 2.0)
