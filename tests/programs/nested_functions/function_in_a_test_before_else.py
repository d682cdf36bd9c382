# function in a test before else
# expect: right
def f(x, c):
    def size(v):
        return np.sum(v * v) * c

    s, n = x * 1.0, 0
    while size(s) > 0.5:
        s = 0.7 * s * np.cos(s)
        n += 1
        if n > 20:
            break
    else:
        s = 3.0 * s
    return size(s)
