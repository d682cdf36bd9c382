# user range
# expect: E5005
def range(a):
    return [0]
def f(x, c):
    s = c
    for v in x:
        s = s + v * c
    return s
