# standing: index in an array of float
# expect: right
def f(x):
    a = np.zeros(3)
    s = 0.0
    for i in range(3):
        t = 2 - i
        a[i] = t
        s = s + x[t] * x[t]
    return s
ARGS = (np.array([0.3, -0.5, 0.9]),)
