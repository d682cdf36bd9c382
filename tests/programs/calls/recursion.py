# recursion
# expect: right
def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)
def f(x, c):
    return power(c, 5) * x[0]
