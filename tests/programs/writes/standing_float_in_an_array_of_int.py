# standing: float in an array of int
# expect: right
def f(x):
    a = np.zeros(3, dtype=int)
    s = 0.0
    for i in range(3):
        t = 3.0 * x[i]
        a[i] = t
        s = s + t * t
    return s
ARGS = (np.array([0.3, -0.5, 0.9]),)
