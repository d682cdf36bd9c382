# pop(k)
# expect: right
def f(x, c):
    out = [c, x[0], x[1], x[2]]
    k = -3
    out.pop(k)
    return out[0] * out[1] * out[2]
