# proc
# expect: right
def fill(a, s):
    a[:] = s
    a[0] += 1.0
def f(x, c):
    a = np.zeros(4)
    fill(a, c)
    fill(a[1:], c * c)
    return np.sum(a * x)
