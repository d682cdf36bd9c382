# a recorded array changes places, then is written into by a pullback
# expect: right
def f(x, c):
    a = x * 1.0
    a[::-1] *= a * c
    k = 0
    while k < 2:
        k += 1
        b = a * x
        b, a = a, b
    return np.sum(a)
