# l[-2] += l.pop()
# expect: E5010
def f(x, c):
    l = [c, x[0], x[1]]
    l[-2] += l.pop()
    return l[0] * l[1]
