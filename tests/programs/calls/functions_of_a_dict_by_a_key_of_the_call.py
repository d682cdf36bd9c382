# functions of a dict by a key of the call
# expect: right
KNOWN = {"tanh": np.tanh, "square": lambda h: h * h, "scale": functools.partial(np.multiply, 3.0)}
def f(x, c):
    for key in ("square", "tanh", "scale"):
        x = KNOWN[key](x)
    return np.sum(x) * c
