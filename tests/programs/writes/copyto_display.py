# copyto display
# expect: right
def f(x, c):
    a = np.zeros(2)
    np.copyto(a, [x[0], c])
    return np.sum(a * a)
