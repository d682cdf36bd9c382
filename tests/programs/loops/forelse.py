# forelse
# expect: right
def f(x, c):
    for i in range(4):
        if x[i] > 5.0:
            r = x[i]
            break
    else:
        r = c * x[0]
    return r
