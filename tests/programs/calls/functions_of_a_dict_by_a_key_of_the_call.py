# functions of a dict by a key of the call
# expect: right
KNOWN = {"tanh": np.tanh, "square": lambda h: h * h, "scale": functools.partial(np.multiply, 3.0)}
def f(x, c, keys):
    for key in keys:
        x = KNOWN[key](x)
    return np.sum(x) * c
ARGS = (np.array([0.4, -0.7]), 0.6, ("square", "tanh", "scale"))
