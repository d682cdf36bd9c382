# items of a dict stored while a loop runs over its keys
# expect: right
def f(p, v, lr):
    for _ in range(3):
        for k in p:
            v[k] = 0.9 * v[k] + p[k] * lr
            p[k] = p[k] - v[k]
    return p["a"] * p["b"]
ARGS = ({"a": 1.0, "b": 2.0}, {"a": 0.1, "b": 0.3}, 0.1)
