# rows exchanged
# expect: right
def f(x, c):
    a = np.zeros((2, 2))
    a[0], a[1] = x[:2], x[2:] * c
    a[0, :], a[1, :] = a[1, :].copy(), a[0, :].copy()
    return np.linalg.det(a)
