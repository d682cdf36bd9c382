# mutable default
# expect: E5010
def g(a, memo=[]):
    memo.append(a)
    return memo[0] * a
def f(x, c):
    return g(c) * x[0]
