# a default of None
# expect: right
def f(x, c, w=None, *, k=None):
    if w is None:
        w = np.sin(x)
    if k is not None:
        w = w * k
    return np.sum(w * x) * c
