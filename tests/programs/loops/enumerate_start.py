# enumerate start
# expect: right
def f(x, c):
    s = 0.0
    for i, (a, b) in enumerate(zip(x, x * c), 1):
        s += a * i * b
    return s
