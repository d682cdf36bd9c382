# list of an array
# expect: right
def f(x, c):
    l = list(x)
    l.append(c)
    return np.sum(np.stack(l)) * l[0]
