# whileelse
# expect: right
def f(x, c):
    i = 0
    s = 0.0
    while i < 3:
        s += x[i] * c
        if s > 100:
            break
        i += 1
    else:
        s = s * 2.0
    return s
