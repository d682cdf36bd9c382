# import
# expect: right
def f(x, c):
    import math
    from numpy import sin
    return math.exp(c) * np.sum(sin(x))
