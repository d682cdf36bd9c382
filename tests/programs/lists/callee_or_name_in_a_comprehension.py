# callee or name in a comprehension
# expect: right
def g(a):
    return np.sin(a)
def f(x, c):
    return sum([v * (g(v) if v > 0 else c) for v in x])
