# standing: float in an array of bool
# expect: right
def f(x):
    a = np.zeros(3, dtype=bool)
    s = 0.0
    for i in range(3):
        t = x[i] * x[i]
        a[i] = t
        s = s + t ** 3
    return s
ARGS = (np.array([0.3, -0.5, 0.9]),)
