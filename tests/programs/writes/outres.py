# outres
# expect: right
def f(x, c):
    a = np.empty_like(x)
    b = np.multiply(x, c, out=a)
    return np.sum(a * b)
