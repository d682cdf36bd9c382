# user min
# expect: right
def min(a, b):
    return 1
def f(x, c):
    s = c
    for v, w in zip(x, x):
        s = s + v * w * c
    return s
