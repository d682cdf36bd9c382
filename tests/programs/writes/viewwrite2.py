# viewwrite2
# expect: E5010
def f(x, c):
    a = x.copy()
    v = a.reshape(2, 2)
    w = v.T
    w[0, 1] *= c
    v += 1.0
    return np.sum(a * a)
