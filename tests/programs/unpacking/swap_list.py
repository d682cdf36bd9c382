# swap list
# expect: right
def f(x, c):
    a, b = x.copy(), np.zeros(4)
    for i in range(3):
        b[1:] = a[:-1] * c
        a, b = b, a
    return np.sum(a * a)
