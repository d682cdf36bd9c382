# pop times closure
# expect: E5010
def f(x, c):
    out = [c, x[0], x[1]]
    def g():
        return out[-1]
    return out.pop() * g()
