# a number that np.matmul makes
# expect: right
def f(x, c):
    s = np.matmul(x, x)
    r = [s]
    s += c
    return s * r[0]
