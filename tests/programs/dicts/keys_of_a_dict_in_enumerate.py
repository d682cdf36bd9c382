# keys of a dict in enumerate
# expect: right
def f(x, d):
    s = 0.0
    for i, k in enumerate(d):
        s = s + k * x[i] * d[k]
    return s
ARGS = (np.array([0.4, -0.7, 1.2]), {2: 5.0, 1: 6.0, 0: 7.0})
