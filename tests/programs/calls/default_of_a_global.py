# default of a global
# expect: right
K = 2.0
def g(a, k=K):
    return a * k
K = 5.0
def f(c):
    return g(c)
ARGS = (0.6,)
