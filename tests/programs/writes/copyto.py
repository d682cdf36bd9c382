# copyto
# expect: right
def f(x, c):
    a = np.zeros(4)
    np.copyto(a, x * c)
    return np.sum(a * a)
