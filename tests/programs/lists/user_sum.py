# user sum
# expect: right
def sum(a):
    return a[0]
def f(x, c):
    s = c
    s = s + sum([v * c for v in x])
    return s
