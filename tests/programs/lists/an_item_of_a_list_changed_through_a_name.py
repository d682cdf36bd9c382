# an item of a list changed through a name
# expect: E5010
def f(x, c):
    out = [x * c, x]
    s = out[0]
    s += 1.0
    return np.sum(out[0] * s)
