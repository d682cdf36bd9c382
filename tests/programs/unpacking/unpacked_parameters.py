# unpacked parameters
# expect: right
def model(t, a, b, k):
    return a * np.exp(-b * t) + k
def f(x, c):
    return np.sum((model(np.linspace(0.0, c, 5), *x[:3]) - 1.0) ** 2) + np.hypot(*x[2:])
