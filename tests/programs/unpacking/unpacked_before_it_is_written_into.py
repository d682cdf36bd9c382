# unpacked before it is written into
# expect: right
def area(a, b):
    return a * b
def f(x, c):
    p = x[2:] * c
    y = area(*p)
    p[0] = c
    return y + area(*p)
