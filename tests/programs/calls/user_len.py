# user len
# expect: E5005
def len(a):
    return 2
def f(x, c):
    s = c
    for v in x:
        s = s + v * c
    return s
