# comp
# expect: right
def f(x, c):
    return sum([x[i] * c for i in range(4)])
