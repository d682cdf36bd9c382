# dict of dicts
# expect: right
def f(x, ps):
    s = x
    for k in ps:
        s = np.tanh(ps[k]["w"] @ s + ps[k]["b"])
    return np.sum(s)
ARGS = (np.array([0.3, 0.4]), {"a": {"w": np.eye(2), "b": np.array([0.1, 0.2])}, "c": {"w": np.ones((1, 2)), "b": np.array([0.3])}})
