# walrus pop
# expect: E5010
def f(x, c):
    out = [c, x[0], x[1]]
    return out[-1] - (t := out.pop()) * out[-1]
