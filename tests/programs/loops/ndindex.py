# ndindex
# expect: right
def f(x, c):
    m = x.reshape(2, 2)
    s = 0.0
    for i, j in np.ndindex(2, 2):
        s = s + m[i, j] * (i + j) * c
    return s
