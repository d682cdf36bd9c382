# array += display
# expect: right
def f(x, c):
    a = x[:2] * c
    a += [c, x[0]]
    return np.sum(a * a)
