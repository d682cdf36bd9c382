# standing: bool in an array of int
# expect: right
def f(x):
    a = np.zeros(3, dtype=int)
    s = 0.0
    for i in range(3):
        t = x[i] > 0
        a[i] = t
        u = x[i] * x[i]
        s = s + np.where(~t, u, u * u)
    return s
ARGS = (np.array([0.3, -0.5, 0.9]),)
