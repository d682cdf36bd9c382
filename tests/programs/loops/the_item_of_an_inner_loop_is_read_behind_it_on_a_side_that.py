# the item of an inner loop is read behind it, on a side that goes on
# expect: right
def f(x, c):
    s = c
    for i in range(1, 4):
        if x[i] < 0.5:
            for j in range(1, 4):
                s = s * x[i] + np.sin(s)
            s = s * x[j - i % 2] + c
            continue
        s = s * x[0] + x[i]
    return s
