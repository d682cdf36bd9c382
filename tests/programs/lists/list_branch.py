# list branch
# expect: right
def f(x, c):
    out = []
    if c > 0:
        out.append(c)
    else:
        out.append(x[0])
        out.append(x[1])
    out.append(x[2])
    return out[0] * out[-1]
