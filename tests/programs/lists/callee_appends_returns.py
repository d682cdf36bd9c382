# callee appends returns
# expect: right
def put(xs, v):
    xs.append(v * v)
    return v
def f(x, c):
    xs = [c]
    t = put(xs, x[0])
    return xs[1] * t
