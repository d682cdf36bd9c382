# part of a list, then a write
# expect: right
def f(x, c):
    out = [c, x[0], x[1]]
    v = out[:2]
    out[0] = x[2] * 3.0
    return v[0] * out[0] + v[1]
