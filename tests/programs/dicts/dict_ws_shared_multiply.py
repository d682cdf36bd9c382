# dict ws shared *=
# expect: E5010
def f(ws, c):
    ws["a"] = ws["b"]
    ws["b"] *= c
    return np.sum(ws["a"] * ws["b"])
ARGS = ({"a": np.array([1.0, 2.0]), "b": np.array([0.5, 2.0])}, 0.5)
