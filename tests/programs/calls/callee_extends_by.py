# callee extends by +
# expect: right
def g(l, v):
    l = l + [v]
    return l
def f(x, c):
    l = g([x[0]], c)
    return l[0] * l[1]
