# list plus array
# expect: right
def f(x, c):
    out = [c, c, c, 1.0]
    out = out + x
    return np.sum(out * out)
