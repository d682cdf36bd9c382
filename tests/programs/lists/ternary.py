# ternary
# expect: right
def f(x, c):
    s = [x[i] if x[i] > 0 else -x[i] for i in range(4)]
    return sum(s) * c
