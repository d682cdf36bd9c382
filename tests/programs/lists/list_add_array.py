# list += array
# expect: E5005
def f(x, c):
    out = [c, c, c, 1.0]
    out += x
    return out[0] * out[3] + len(out)
