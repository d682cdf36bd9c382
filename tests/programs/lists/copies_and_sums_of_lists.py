# copies and sums of lists
# expect: right
def f(x, c):
    l = [c, x[0]]
    m = l[:]
    m.append(c * c)
    k = l + [x[1]]
    return m[2] * k[2] + m[0]
