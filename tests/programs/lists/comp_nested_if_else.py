# comp nested if else
# expect: right
def f(x, c):
    ys = [(a if a > 0 else c) * b for a, b in zip(x, x[::-1])]
    return np.sum(np.stack(ys)) + ys[0]
