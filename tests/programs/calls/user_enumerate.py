# user enumerate
# expect: right
def enumerate(a):
    return [(0, 1.0)]
def f(x, c):
    s = c
    for i, v in enumerate(x):
        s = s + v * c
    return s
