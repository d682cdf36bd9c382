# callee gives its dict
# expect: right
def same(ws):
    return ws
def f(x, ws):
    y = same(ws)
    return np.sum(y["a"] * x) * y["b"]
ARGS = (np.array([0.3, 0.4]), {"a": np.array([0.5, 0.2]), "b": 0.7})
