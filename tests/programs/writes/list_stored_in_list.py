# list stored in list
# expect: E5005
def f(x, c):
    l = [0.0, 0.0]
    l[0] = [c, x[0]]
    return l[0][0] * l[0][1]
