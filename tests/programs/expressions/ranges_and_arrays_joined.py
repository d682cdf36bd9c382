# ranges and arrays joined
# expect: right
def f(x, c):
    a = np.r_[0.0, x * c, c, 1:3, 0:1:3j, -x]
    return np.sum(a * a * np.arange(len(a)))
