# list of array rows +=
# expect: E5010
def f(x, c):
    a = np.outer(x, x)
    l = list(a)
    l[0] += c
    return np.sum(a * a) + np.sum(l[0])
