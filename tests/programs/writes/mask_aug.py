# mask aug
# expect: right
def f(x, c):
    a = x * c
    a[a > 0] *= 2.0
    a[a < 0] = 0.0
    return np.sum(a * x)
