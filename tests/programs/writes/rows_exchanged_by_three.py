# rows exchanged by three
# expect: E5010
def f(x, c):
    a = np.outer(x, x)
    t = a[0]
    a[0] = a[1]
    a[1] = t
    return np.sum(a[0] * x) + a[1, 2] * c
