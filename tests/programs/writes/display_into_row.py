# display into row
# expect: right
def f(x, c):
    a = np.zeros((2, 2))
    a[0] = (c, x[0])
    a[1] += [x[1], c]
    return np.sum(a * a)
