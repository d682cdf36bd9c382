# and as value
# expect: right
def f(x, c):
    y = x[0] and c
    return y * y
