# walrus in a test before else
# expect: right
def f(x, c):
    s, i, t = 0.0, 0, 1.0
    while (t := x[i] * c) < 0.6 and i < 3:
        s += t * t
        i += 1
    else:
        s *= 1.5
    return s + t
