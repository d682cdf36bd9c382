# list pop
# expect: right
def f(x, c):
    out = [c, x[0], x[1]]
    a = out.pop()
    return a * out[0]
