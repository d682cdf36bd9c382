# item -=
# expect: right
def f(x, c):
    l = [v for v in x]
    l[1] -= c * l[0]
    l[1] -= c * l[1]
    return l[0] * l[1]
