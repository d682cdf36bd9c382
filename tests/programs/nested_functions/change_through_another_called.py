# a name that a function changes through another one, read before by a function that is written out in place
# expect: E5010
def f(x, c):
    def grow(t):
        nonlocal c
        c = c + 2.0
        return t * c

    def scaled(k):
        y = k * k
        return y * c

    return scaled(2.0) * np.sum(x) + (lambda t: grow(t))(c)
