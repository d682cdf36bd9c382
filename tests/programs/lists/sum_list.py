# sum list
# expect: right
def f(x, c):
    t = []
    for i in range(3):
        t.append(x[i] ** 2)
    t.append(c)
    return sum(t) * c
