# pop(-2)
# expect: right
def f(x, c):
    out = [c, x[0], x[1]]
    out.pop(-2)
    return out[0] * out[1] * c
