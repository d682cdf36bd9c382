# store of higher rank
# expect: right
def f(x, c):
    a = np.zeros(4)
    e = x[:2] * c
    a[1:3] = e.reshape(1, 1, 2)
    return np.sum(a * a)
