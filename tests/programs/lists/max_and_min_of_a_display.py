# max and min of a display
# expect: right
def f(x, c):
    l = [x[0], c * x[1], x[2]]
    return max(l) * min(l)
