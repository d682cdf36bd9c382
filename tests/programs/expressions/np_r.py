# r_
# expect: right
def f(c):
    return np.sum(np.r_[c, c * c])
ARGS = (0.6,)
