# user slice
# expect: E5005
slice = 3
def f(x, c):
    s = c
    s = s + x[1:][0] * c
    return s
