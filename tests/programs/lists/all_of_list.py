# all of list
# expect: right
def f(x, c):
    if all([v > -5.0 for v in x]):
        return c * x[0]
    return c
