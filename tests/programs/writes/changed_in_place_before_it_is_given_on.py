# arrays made in each trip, changed in place, and given on after that: to a list, another name, a caller
# expect: right
def scaled(n, c):
    g = np.exp(-np.arange(n) * c)
    total = g.sum()
    if total != 0:
        g /= total
    return g


def f(x, c):
    kept, best = [], x * 0.0
    for k in range(3):
        u = x * (k + c)
        u -= u.mean()
        u /= np.sqrt(np.sum(u**2))
        kept.append(u)
        if np.sum(u * x) > np.sum(best * x):
            best = u
    total = np.sum(kept[0] * kept[2] * best)
    for k in range(2):
        weights = scaled(4, c + k)
        total += np.sum(weights * x)
    return total
