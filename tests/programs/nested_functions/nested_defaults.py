# nested defaults
# expect: right
def f(x, c):
    fs = 0.0
    for i in range(3):
        g = lambda a, i=i: a * x[i]
        fs = fs + g(c)
    return fs
