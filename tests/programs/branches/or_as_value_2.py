# or as value 2
# expect: right
def f(x, c):
    y = x[0] or c
    return y * y
