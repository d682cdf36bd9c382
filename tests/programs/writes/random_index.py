# random index
# expect: right
def f(x, c):
    rng = np.random.default_rng(0)
    a = x * c
    for i in range(4):
        a[rng.integers(4)] = c * a[rng.integers(4)]
    return np.sum(a * x)
