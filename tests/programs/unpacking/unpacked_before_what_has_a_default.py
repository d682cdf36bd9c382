# unpacked before what has a default
# expect: right
def model(t, a, b, k=2.0):
    return a * np.exp(-b * t) + k
def f(x, c):
    return model(c, *x[:2], k=x[2]) * model(*[c, *x[2:]], k=1.0)
