# annassign
# expect: right
def f(x, c):
    y: float = c * 2.0
    n: int
    n = 3
    return y * x[0] * n
