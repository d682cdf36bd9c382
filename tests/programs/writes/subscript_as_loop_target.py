# subscript as loop target
# expect: right
def f(x, c):
    a = np.zeros(2)
    for a[0] in x:
        a[1] += a[0] * c
    return np.sum(a)
