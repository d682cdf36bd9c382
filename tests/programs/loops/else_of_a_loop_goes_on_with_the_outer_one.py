# else of a loop goes on with the outer one
# expect: right
def f(x, c):
    s = 0.0
    for i in range(3):
        for j in range(3):
            if j == i:
                continue
            if x[i] * x[j] > 0.3:
                break
            s += c * x[i] * x[j] ** 2
        else:
            s = s * 2.0
            continue
        s += x[i]
    return s
