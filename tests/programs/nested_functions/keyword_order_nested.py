# keyword order nested
# expect: E5010
def f(x, c):
    l = [c, x[0]]
    def h(p, q):
        return p * p * q
    return h(q=l.pop(), p=l.pop())
