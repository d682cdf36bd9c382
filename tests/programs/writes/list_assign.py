# list assign
# expect: right
def f(x, c):
    out = [0.0] * 4
    for i in range(4):
        out[i] = c * x[i]
    return out[0] * out[3]
