# closure
# expect: right
def f(x, c):
    def g(a):
        return np.sin(a) * c
    return np.sum(g(x)) + g(c)
