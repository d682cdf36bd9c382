# comp if
# expect: right
def f(x, c):
    ys = [a * c for a in x if a > 0]
    return np.sum(np.array(ys))
