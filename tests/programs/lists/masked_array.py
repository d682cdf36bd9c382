# masked array
# expect: E5017
M = np.ma.array([1.0, 2.0, 3.0, 4.0], mask=[0, 1, 0, 0])
def f(x, c):
    return np.sum(M * x) * c
