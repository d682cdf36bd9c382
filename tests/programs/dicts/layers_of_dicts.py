# layers of dicts
# expect: right
def f(x, layers):
    s = x
    for p in layers:
        s = np.tanh(p["w"] @ s + p["b"])
    return np.sum(s)
ARGS = (np.array([0.3, 0.4]), [{"w": np.eye(2), "b": np.array([0.1, 0.2])}, {"w": np.ones((1, 2)), "b": np.array([0.3])}])
