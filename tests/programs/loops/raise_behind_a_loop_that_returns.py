# raise behind a loop that returns
# expect: right
def f(x, c):
    for i in range(8):
        if c > 2.0:
            return np.sum(x * i) * c
        c = c * 1.3
    raise ValueError(c)
