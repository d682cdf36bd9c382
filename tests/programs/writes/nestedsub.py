# nestedsub
# expect: right
def f(x, c):
    a = np.zeros((2, 4))
    a[0][1] = c
    a[1][:] = x
    a[0][2] += x[1]
    return np.sum(a * a)
