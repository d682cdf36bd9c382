# else of a loop leaves the outer one
# expect: right
def f(x, c):
    s = c
    for i in range(4):
        for j in range(i):
            s = s * x[j] + c
        else:
            if s > 0.5:
                s = s * x[i]
                break
            elif i == 3:
                return s * x[0]
        s = s + x[i] * x[i]
    return s * s
