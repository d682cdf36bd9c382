# insert a tuple
# expect: right
def f(x, c):
    l = [(c, c)]
    l.insert(0, (c, x[0]))
    return l[0][0] * l[0][1] * l[1][0]
