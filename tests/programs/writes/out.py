# out
# expect: right
def f(x, c):
    a = np.empty_like(x)
    np.multiply(x, c, out=a)
    np.sin(a, out=a)
    return np.sum(a)
