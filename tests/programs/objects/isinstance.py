# isinstance
# expect: right
def f(x, c):
    if isinstance(x, np.ndarray):
        return np.sum(x) * c
    return x * c
