# None in a container
# expect: right
def f(p, c):
    return np.sum(p["w"]) * c if p["b"] is None else c
ARGS = ({"w": np.ones(2), "b": None}, 0.4)
