# columns of arrays joined
# expect: right
def f(x, c):
    a = np.c_[np.ones(4), x, np.c_[x * c, np.sin(x)]]
    cube = np.ones((2, 3, 4)) * c
    return np.sum((a @ a.T) ** 2) + np.sum(np.c_[cube, cube * x] * np.arange(8.0))
