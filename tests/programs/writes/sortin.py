# sortin
# expect: right
def f(x, c):
    a = x * c
    a.sort()
    return np.sum(a * np.arange(4.0))
