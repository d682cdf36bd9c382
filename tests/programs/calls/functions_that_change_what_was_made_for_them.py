# functions that change what was made for them
# expect: right
def spent(v):
    v[0] *= v[1]
    for k in range(2):
        v[k] = v[2] * v[k]
    return np.sum(v * v)
def f(x, c):
    a = np.sin(x)
    s = spent(a * c)
    for k in range(2):
        s = s + spent(-a * (1.0 + k)) * x[0]
    return s * spent(a + x) + np.sum(a)
