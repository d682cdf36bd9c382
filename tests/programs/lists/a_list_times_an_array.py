# a list times an array
# expect: right
def f(x, c):
    a = np.array([1, 2]) * 2
    b = [1.0, 2.0] * a
    return np.sum(b) * c
