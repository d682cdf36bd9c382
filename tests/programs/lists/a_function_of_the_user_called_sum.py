# a function of the user called sum
# expect: right
def sum(items):
    return [2.0 * v for v in items]
def f(x, c):
    return sum([v * c for v in x])[1]
