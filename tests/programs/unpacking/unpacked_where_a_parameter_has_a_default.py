# unpacked where a parameter has a default
# expect: E5005
def model(t, a, b=2.0):
    return a * t + b
def f(x, c):
    return model(c, *x[:2])
