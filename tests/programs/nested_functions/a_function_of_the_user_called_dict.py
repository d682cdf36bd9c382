# a function of the user called dict
# expect: right
def f(x, c):
    def dict(w): return w * c
    return dict(w=x[0])
