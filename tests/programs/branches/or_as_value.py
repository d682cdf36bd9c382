# or as value
# expect: right
def f(c, k=None):
    k = k or c
    return k * c
ARGS = (0.6,)
