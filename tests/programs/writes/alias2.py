# alias2
# expect: right
def f(x, c):
    a = x.copy()
    b = a
    b[0] = c
    return np.sum(a * a)
