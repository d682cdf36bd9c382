# global list times array
# expect: right
L = [1.0, 2.0, 3.0, 4.0]
def f(x, c):
    return np.sum(x * L) * c
