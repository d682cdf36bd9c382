# listlit loop active
# expect: right
def f(x, c):
    s = 0.0
    for w in [c, x[0], c * c]:
        s += w * x[1]
    return s
