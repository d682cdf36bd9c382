# list extend
# expect: right
def f(x, c):
    out = []
    out.extend([c, x[0]])
    out.insert(0, c * c)
    return out[0] * out[2]
