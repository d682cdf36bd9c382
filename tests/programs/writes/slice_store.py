# slice store
# expect: E5005
def f(x, c):
    l = [c, x[0], x[1]]
    l[1:] = [c * c, c * x[2]]
    return l[1] * l[2]
