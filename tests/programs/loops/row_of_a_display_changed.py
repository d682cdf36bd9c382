# row of a display changed
# expect: E5010
def f(x, c):
    s = 0.0
    for r in [x * c, x * 2.0]:
        r += c
        s = s + np.sum(r * r)
    return s
