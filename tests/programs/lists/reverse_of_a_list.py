# reverse of a list
# expect: right
def f(x, c):
    l = [c * x[i] for i in range(3)]
    l.reverse()
    return l[0] * l[1] - l[2]
