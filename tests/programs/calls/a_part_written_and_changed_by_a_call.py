# a part written and changed by a call
# expect: E5010
def bump(a):
    a[0] += 1.0
    return a[0]
def f(x, c):
    a = x * c
    a[0] += bump(a)
    return np.sum(a * a)
