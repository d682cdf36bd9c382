# dict items of dicts
# expect: right
def f(x, ps):
    s = x
    for k, p in ps.items():
        s = np.tanh(p["w"] @ s + p["b"])
    return np.sum(s)
ARGS = (np.array([0.3, 0.4]), {"a": {"w": np.eye(2), "b": np.array([0.1, 0.2])}, "c": {"w": np.ones((1, 2)), "b": np.array([0.3])}})
