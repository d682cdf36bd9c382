# callee or name
# expect: right
def g(a):
    return np.sin(a)
def f(x, c):
    s = c
    for i in range(2):
        s = np.sin(s * (g(x[0]) if x[i] > 0.2 else c))
    return s
