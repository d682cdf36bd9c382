# sortkey
# expect: right
def f(x, c):
    idx = sorted(range(4), key=lambda i: x[i])
    return x[idx[0]] * c
