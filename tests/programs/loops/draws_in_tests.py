# draws in tests
# expect: right
def f(x, c):
    rng = np.random.default_rng(0)
    for _ in range(6):
        if rng.uniform() < 0.4 + 0.1 * x[0]:
            x = x * c
        x = np.sin(x) if rng.uniform() < 0.5 else x + 0.1
        while rng.uniform() < 0.5:
            x = x * 1.1 + c**2
    return np.sum(x) * rng.normal()
