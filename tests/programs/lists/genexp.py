# genexp
# expect: right
def f(x, c):
    return sum(a * c for a in x)
