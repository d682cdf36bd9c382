# list of pairs to a callee
# expect: right
def tot(ps):
    s = 0.0
    for w, b in ps:
        s += np.sum(w) * b
    return s
def f(x, c):
    new = []
    for v in x:
        new.append((x * v, v * c))
    return tot(new)
