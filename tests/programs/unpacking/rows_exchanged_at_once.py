# rows exchanged at once
# expect: E5010
def f(x, c):
    a = np.outer(x, x)
    a[0], a[1] = a[1], a[0]
    return np.sum(a[0] * x) + a[1, 2] * c
