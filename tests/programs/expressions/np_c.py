# c_
# expect: right
def f(x, c):
    return np.sum(np.c_[x, x * c])
