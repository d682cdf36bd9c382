# any
# expect: right
def f(x, c):
    if any(v > 1 for v in x):
        return c * x[0]
    return c
