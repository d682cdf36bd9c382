# an appended value read before a call changes it
# expect: E5010
def bump(a):
    a[0] += 1.0
    return a[0]
def f(x, c):
    a = x * c
    ys = []
    ys.append(a[0] * 3.0 + bump(a))
    return ys[0] * a[0]
