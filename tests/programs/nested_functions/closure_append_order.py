# closure append order
# expect: E5010
def f(x, c):
    b = [c]
    def hit(v):
        b.append(v * v)
        return v
    return b[-1] * hit(x[0])
