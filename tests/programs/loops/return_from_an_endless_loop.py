# return from an endless loop
# expect: right
def f(x, c):
    k = 0
    while True:
        c = c - 0.5 * (c - np.sin(c) - 0.1 * x[0])
        k += 1
        if k > 3:
            return c * x[1]
