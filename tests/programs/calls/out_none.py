# out=None
# expect: E5010
def put(c, out=None):
    if out is None:
        out = np.zeros(4)
    out[0] = c
    return out
def f(x, c):
    return np.sum(put(c) * x)
