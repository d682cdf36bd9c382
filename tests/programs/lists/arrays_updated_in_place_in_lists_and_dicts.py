# arrays updated in place as items of a dict and a list that alone hold them
# expect: right
def f(x, c):
    terms = {0: x * 1.0, 1: x**2}
    for n in range(2, 4):
        terms[n] = x * terms[n - 1] - c * terms[n - 2]
    for n in range(4):
        terms[n] *= n + c
    rows = [np.cos(x * k) for k in range(3)]
    for k in range(2):
        rows[k] /= 1.0 + k
        rows[k] -= rows[k + 1].mean()
    return np.sum(np.hstack([terms[n] for n in terms])) + np.sum(np.array(rows) ** 2)
