# pairs by place in a callee
# expect: right
def tot(ps):
    s = 0.0
    i = 0
    while i < len(ps):
        w, b = ps[i]
        s += np.sum(w) * b
        i += 1
    return s
def f(x, c):
    new = [(x * v, v * c) for v in x]
    return tot(new)
