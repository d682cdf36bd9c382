# user reversed
# expect: E5005
def reversed(a):
    return a
def f(x, c):
    s = c
    for i in range(3):
        s = s * x[i] + c
    return s
