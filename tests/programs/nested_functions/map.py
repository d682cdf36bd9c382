# map
# expect: right
def f(x, c):
    return sum(map(lambda a: a * c, x))
