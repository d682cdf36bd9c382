# nonlocal in comprehension
# expect: E5010
def f(x, c):
    t = c
    def hit(v):
        nonlocal t
        t = t * v
        return v
    return t + sum([hit(a) for a in x])
