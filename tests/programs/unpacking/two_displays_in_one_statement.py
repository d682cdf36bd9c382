# two displays in one statement
# expect: right
def f(x, c):
    a, b = [], []
    for i in range(3):
        a.append(x[i] * c)
        b.append(x[i] + c)
    return a[0] * b[1] + a[2]
