# extend with tuples
# expect: right
def f(x, c):
    l = []
    l.extend([(c, x[0]), (x[1], c)])
    return l[0][0] * l[1][0]
