# param dict write
# expect: right
def f(p, c):
    p["a"] = c * p["b"]
    return p["a"] * p["b"]
ARGS = ({"a": 0.3, "b": 0.4}, 0.7)
