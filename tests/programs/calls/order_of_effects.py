# order of effects
# expect: right
def bump(a):
    a[0] += 1.0
    return a[0]
def f(x, c):
    a = x * c
    return a[0] * 3.0 + bump(a) * a[0]
