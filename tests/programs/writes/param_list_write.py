# param list write
# expect: right
def f(xs, c):
    xs[0] = c * xs[1]
    return xs[0] * xs[1]
ARGS = ([0.3, 0.4], 0.7)
