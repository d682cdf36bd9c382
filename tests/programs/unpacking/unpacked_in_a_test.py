# unpacked in a test
# expect: right
def area(a, b):
    return a * b
def f(x, c):
    p = x[2:] * c
    while area(*p) < 2.0:
        p = p * 1.5
    return area(*p)
