# dictcomp
# expect: right
def f(x, c):
    d = {i: x[i] * c for i in range(4)}
    return d[0] * d[2]
