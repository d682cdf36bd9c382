# i = b[i] = 2
# expect: E5005
def f(x, c):
    b = x * c
    i = 0
    i = b[i] = 2
    return np.sum(b * b) * i
