# reversed
# expect: right
def f(x, c):
    s = 0.0
    for a in reversed(x):
        s = s * c + a
    return s
