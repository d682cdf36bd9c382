# a name that a function changes through another one, read behind it
# expect: right
def f(x, c):
    def grow(t):
        nonlocal c
        c = c + 2.0
        return t * c

    def both(t):
        return grow(t) + grow(t * t)

    return both(c) + c * np.sum(x)
