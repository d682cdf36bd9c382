# pop(idx.pop())
# expect: right
def f(x, c):
    out = [c, x[0], x[1], x[2]]
    idx = [0, 1, 2]
    y = out.pop(idx.pop())
    return y * out[0] + len(idx)
