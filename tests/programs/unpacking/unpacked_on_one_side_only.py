# unpacked on one side only
# expect: right
def area(a, b):
    return a * b
def f(x, c):
    y = area(*x[:2]) if c > 0.0 else area(*x[:3])
    return y * c
