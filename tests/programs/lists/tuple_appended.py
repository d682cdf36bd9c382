# tuple appended
# expect: right
def f(x, c):
    l = []
    l.append((x[1], c))
    return l[0][0] * l[0][1]
