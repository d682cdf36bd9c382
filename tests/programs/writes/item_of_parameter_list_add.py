# item of parameter list +=
# expect: right
def f(l, c):
    l[0] += c
    l[0] -= l[1] * c
    return l[0] * l[1]
ARGS = ([0.4, 0.7], 0.6)
