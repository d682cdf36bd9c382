# display into places
# expect: right
def f(x, c):
    a = np.zeros(4)
    a[[0, 2]] = [x[0], c]
    return np.sum(a * a)
