# max and min of a list
# expect: right
def f(x, c):
    l = []
    for i in range(3):
        l.append(x[i] * c)
    return max(l) + min(l)
