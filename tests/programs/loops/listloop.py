# listloop
# expect: right
def f(x, c):
    s = 0.0
    for w in [1.0, 2.0, 3.0]:
        s += w * c * x[0]
    for k in (1, 2):
        s += x[k]
    return s
