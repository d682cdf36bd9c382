# variables and parameters by names of functions of Python that texts call: len, list, range, reversed, slice, zip
# expect: right
def resized(v, len):
    range = np.max(v) - np.min(v)
    return v / range * len


def weighted(x, list, n):
    s = 0.0
    for i in range(n):
        if x[i] > 0.2:
            s += x[i] * list[i]
        elif i > 4:
            return s
        else:
            s -= np.sin(x[i]) * list[0]
    return s


def f(x, c):
    def scaled(v, len=2.0):
        zip = v * len
        return np.sum(zip**2)

    len = x.shape[0]
    slice = [x * c, x * x]
    total = scaled(x, len=c) + scaled(x)
    for one in slice:
        total = total + np.sum(one * one) / len
    while len > 1:
        len -= 1
        total = total * c + np.sum([reversed**2 for reversed in x[:len]])
    return total + np.sum(resized(x, len=c)) + weighted(x, x * x, 4) + weighted(x[::-1], list=x, n=3)
