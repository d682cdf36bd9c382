# item of an item
# expect: right
def f(x, c):
    m = [[0.0] * 3 for _ in range(2)]
    m[0][1] = c
    return m[0][1] * x[0]
