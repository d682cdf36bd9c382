# item +=
# expect: right
def f(x, c):
    l = [0.0, 0.0]
    for i in range(4):
        l[i % 2] += x[i] * c
    return l[0] * l[1]
