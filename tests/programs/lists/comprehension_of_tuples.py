# comprehension of tuples
# expect: right
def f(x, c):
    l = [(v, v * c) for v in x]
    return l[0][0] * l[1][1]
