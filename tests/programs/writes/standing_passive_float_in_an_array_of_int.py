# standing: passive float in an array of int
# expect: right
def f(x):
    a = np.zeros(3, dtype=int)
    s = 0.0
    for i in range(3):
        t = float(i) / 2
        a[i] = t
        s = s + x[i] * x[i] * t
    return s + a[1]
ARGS = (np.array([0.3, -0.5, 0.9]),)
