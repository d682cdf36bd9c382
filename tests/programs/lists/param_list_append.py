# param list append
# expect: right
def f(xs, c):
    xs.append(c)
    return xs[0] * xs[-1]
ARGS = ([0.3, 0.4], 0.7)
