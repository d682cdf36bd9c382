# closure pop order
# expect: E5010
def f(x, c):
    b = [c, x[1], x[2]]
    def hit(v):
        return b.pop() * v
    return b[-1] * hit(x[0]) + b[-1]
