# nested targets
# expect: right
def f(x, c):
    s = 0.0
    for a, (b, d) in [(c, (x[0], c)), (x[1], (c, x[2]))]:
        s = s + a * b * d
    return s
