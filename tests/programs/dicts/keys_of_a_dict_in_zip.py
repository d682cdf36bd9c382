# keys of a dict in zip
# expect: right
def f(x, d):
    s = 0.0
    for k, v in zip(d, x):
        s = s + k * v * d[k]
    return s
ARGS = (np.array([0.4, -0.7, 1.2]), {0: 5.0, 1: 6.0, 2: 7.0})
