# list in callee
# expect: right
def build(a, n):
    out = [a]
    for i in range(n):
        out.append(out[i] * a)
    return out
def f(x, c):
    p = build(c, 3)
    return p[0] * p[3] * x[0]
