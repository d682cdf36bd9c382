# global list
# expect: right
W = [1.0, 2.0]
def f(x, c):
    return W[0] * c + W[1] * x[0]
