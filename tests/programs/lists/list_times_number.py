# [c] * 3
# expect: right
def f(x, c):
    l = [c] * 3
    return l[0] * l[1] * x[0]
