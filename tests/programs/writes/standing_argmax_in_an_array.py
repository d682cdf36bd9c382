# standing: argmax in an array
# expect: right
def f(x):
    a = np.zeros(3)
    s = 0.0
    for i in range(3):
        t = int(np.argmax(x * i))
        a[i] = t
        s = s + x[t] ** 2
    return s + a[1]
ARGS = (np.array([0.3, -0.5, 0.9]),)
