# else of a loop returns
# expect: right
def f(x, c):
    s = c
    for i in range(3):
        k = 0
        while k < i:
            s = s * 0.5 + x[k]
            k += 1
            if s > 0.9:
                break
        else:
            if i == 2:
                return s * x[1]
        s = s + x[0]
    return s
