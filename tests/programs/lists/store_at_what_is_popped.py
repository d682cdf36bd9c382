# a[l.pop()] = v[l[-1]]
# expect: E5010
def f(x, c):
    l = [0, 1, 2]
    a = x * c
    v = x * 2.0
    a[l.pop()] = v[l[-1]]
    return np.sum(a * a)
