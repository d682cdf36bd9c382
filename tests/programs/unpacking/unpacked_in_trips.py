# unpacked in trips
# expect: right
def area(a, b):
    return a * b
def f(x, c):
    a = 3.0
    return a * sum(area(*p) * c for p in (x[:2], x[1:3], x[::2]))
