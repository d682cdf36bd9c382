# bound change
# expect: right
def f(x, c):
    n = 2
    s = c
    while n < 10:
        for i in range(n % 3):
            s = s * x[i]
        n += 3
    return s
