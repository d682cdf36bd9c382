# list return
# expect: right
def f(x, c):
    out = []
    for v in x:
        out.append(v * c)
    return out[0], out[1]
