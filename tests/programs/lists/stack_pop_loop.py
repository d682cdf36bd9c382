# stack pop loop
# expect: right
def f(x, c):
    s = [c, x[0]]
    r = 0.0
    while len(s) > 0:
        v = s.pop()
        r = r * 0.5 + v * v
        if len(s) == 1 and r < 0.3 and v > 0.5:
            s.append(v * x[1] * 0.5)
    return r
