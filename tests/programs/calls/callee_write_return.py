# callee write+return
# expect: right
def step(a, s):
    a[0] = s
    return a * s
def f(x, c):
    a = x.copy()
    b = step(a, c)
    return np.sum(a * b)
