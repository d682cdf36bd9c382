# a name that only a branch for another kind binds, read where that kind is asked again
# expect: right
class Series:
    pass


def f(x, c):
    if isinstance(x, Series):
        index = x.index
    total = 0.0
    for k in range(3):
        total += np.sum(x**k) * c
        if hasattr(x, "index"):
            total += index[k]
    return total
