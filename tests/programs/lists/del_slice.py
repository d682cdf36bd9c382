# del slice
# expect: E5005
def f(x, c):
    out = [c, x[0], x[1]]
    del out[1:]
    return out[0] * x[0]
