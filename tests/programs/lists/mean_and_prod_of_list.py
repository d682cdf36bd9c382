# mean and prod of list
# expect: right
def f(x, c):
    l = []
    for v in x:
        l.append(v * c)
    return np.mean(l) * np.prod(l)
