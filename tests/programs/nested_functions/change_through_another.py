# a name that a function changes through another one, read before in the same statement
# expect: E5010
def f(x, c):
    def grow(t):
        nonlocal c
        c = c + 2.0
        return t * c

    return (c - 1.0) * np.sum(x) + (lambda t: grow(t))(c)
