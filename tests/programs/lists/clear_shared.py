# clear shared
# expect: right
def f(x, c):
    a = [c, x[0]]
    b = a
    a.clear()
    a.append(x[1])
    return b[0] * c
