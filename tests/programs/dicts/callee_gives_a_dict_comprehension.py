# callee gives a dict comprehension
# expect: right
def make(x, ws):
    return {k: w * x for k, w in ws.items()}
def f(x, ws):
    y = make(x, ws)
    return np.sum(y["a"] * y["b"])
ARGS = (np.array([0.3, 0.4]), {"a": 0.5, "b": np.array([0.1, 0.7])})
