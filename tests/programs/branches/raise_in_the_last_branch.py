# raise in the last branch
# expect: right
def f(x, c, kind="square"):
    if kind == "square":
        return np.sum(x * x) * c
    elif kind == "sine":
        return np.sum(np.sin(x))
    else:
        raise ValueError(kind)
