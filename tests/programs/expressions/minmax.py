# minmax
# expect: right
def f(x, c):
    return max(x[0], c) * min(c, x[1], 0.3)
