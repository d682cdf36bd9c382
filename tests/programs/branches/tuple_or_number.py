# a tuple whose name a branch binds to a number
# expect: right
ARGS = (0.5, (0.6, 0.7))
rate = 0.6


def f(s, c):
    if s > 10.0:
        c = rate
    else:
        s = c[1] * s
    return s + np.sum(c)
