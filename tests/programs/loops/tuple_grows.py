# tuple grows
# expect: E5005
def f(x, c):
    t = ()
    for i in range(3):
        t = t + (x[i] * c,)
    return t[0] * t[1]
