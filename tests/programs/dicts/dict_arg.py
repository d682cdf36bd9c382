# dict arg
# expect: right
def f(p, x):
    return np.sum(np.tanh(x * p["w"] + p["b"]))
ARGS = ({"w": 0.5, "b": np.array([0.1, 0.2])}, np.array([1.0, 2.0]))
