# bounds that may be None
# expect: right
def f(x, c, bounds=(None, 0.5)):
    low, high = bounds
    if low is not None:
        x = np.maximum(x, low)
    if high is not None:
        x = np.minimum(x, high)
    return np.sum(x * x) * c
