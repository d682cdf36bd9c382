# pop times sum
# expect: E5010
def f(x, c):
    out = [c, x[0], x[1]]
    return out.pop() * sum([v * v for v in out])
