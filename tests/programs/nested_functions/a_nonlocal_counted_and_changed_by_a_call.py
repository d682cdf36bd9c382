# a nonlocal counted and changed by a call
# expect: E5010
def f(x, c):
    total = c
    def add(v):
        nonlocal total
        total = total + v
        return v
    total += add(x[0])
    return total * x[1]
