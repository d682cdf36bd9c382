# extend reads itself
# expect: right
def f(x, c):
    out = [c]
    out.extend([out[-1] * x[0], out[-1] * x[1]])
    return out[1] * out[2]
