# a function called dict beside what changes
# expect: right
def dict(a, b):
    return a * b
def f(x, c):
    d = dict(x, c)
    return d[0]
