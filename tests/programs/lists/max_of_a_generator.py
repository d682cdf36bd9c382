# max of a generator
# expect: right
def f(x, c):
    return max(x[i] * c for i in range(3))
