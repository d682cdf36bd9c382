# zip
# expect: right
def f(x, c):
    s = 0.0
    for a, b in zip(x, x[::-1]):
        s += a * b * c
    return s
