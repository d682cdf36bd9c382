# list to callee
# expect: right
def total(vs):
    s = 0.0
    for v in vs:
        s = s + v * v
    return s
def f(x, c):
    vs = [c]
    vs.append(x[0])
    return total(vs) * c
