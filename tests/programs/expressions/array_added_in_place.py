# aug-array
# expect: right
def f(x, c):
    a = x.copy()
    b = a
    a += c
    return np.sum(a * b)
