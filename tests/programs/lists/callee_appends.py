# callee appends
# expect: right
def put(xs, v):
    xs.append(v * v)
def f(x, c):
    xs = [c]
    put(xs, x[0])
    put(xs, xs[-1])
    return xs[1] * xs[2]
