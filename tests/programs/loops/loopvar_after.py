# loopvar after
# expect: right
def f(x, c):
    for i in range(3):
        c = c * x[i]
    return c * x[i] * i
