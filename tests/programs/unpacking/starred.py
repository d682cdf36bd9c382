# starred
# expect: right
def f(x, c):
    a, *b = [c, x[0], x[1]]
    return a * b[0] * b[1]
