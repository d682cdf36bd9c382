# call that writes in an index
# expect: E5010
def bump(a):
    a[0] += 1.0
    return 1
def f(x, c):
    a = x * c
    a[bump(a)] = c
    return np.sum(a) * a[0]
