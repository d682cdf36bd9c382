# while call
# expect: right
def f(x, c):
    def g(a):
        return a * a
    s = c
    while g(s) < 3.0:
        s = s * 1.5 + x[2]
    return s
