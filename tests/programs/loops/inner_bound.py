# inner bound
# expect: right
def f(x, c):
    s = 0.0
    for i in range(4):
        for j in range(i):
            s += x[i] * x[j] * c
    return s
