# whiletrue
# expect: right
def f(x, c):
    i = 0
    s = c
    while True:
        s = s * 0.5 + x[i]
        i += 1
        if i >= 3:
            break
    return s
