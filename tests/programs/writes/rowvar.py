# rowvar
# expect: right
def f(x, c):
    a = np.outer(x, x)
    for row in a:
        row[0] = c
        row *= 2.0
    return np.sum(a * a)
