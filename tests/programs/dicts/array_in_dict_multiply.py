# array in dict *=
# expect: E5010
def f(x, c):
    d = {"a": x * c}
    y = d["a"]
    d["a"] *= x
    return np.sum(y * d["a"])
