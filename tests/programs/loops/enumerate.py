# enumerate
# expect: right
def f(x, c):
    s = 0.0
    for i, a in enumerate(x):
        s += a * i * c
    return s
