# sum mixed list
# expect: right
def f(x, c):
    return np.sum(sum([x, c, x * c]))
