# where gives 0-d
# expect: right
def f(x, c):
    s = np.where(c > 0, c, x[0])
    t = s
    s += c
    return s * t
