# user list
# expect: E5005
def list(a):
    return [0]
def f(x, c):
    s = c
    for k, v in {0: c, 1: x[0]}.items():
        s = s + v * k * c
    return s
