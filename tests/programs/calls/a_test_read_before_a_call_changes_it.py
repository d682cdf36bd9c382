# a test read before a call changes it
# expect: E5010
def bump(a):
    a[0] += 1.0
    return a[0]
def f(x, c):
    a = x * c
    if a[0] * 100.0 < bump(a):
        return a[0] * c
    return a[0]
