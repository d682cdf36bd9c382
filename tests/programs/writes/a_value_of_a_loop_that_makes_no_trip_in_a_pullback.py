# a value of a loop that makes no trip, in a pullback
# expect: right
def f(x, c, n):
    a = x * 1.0
    for i in range(n - 1):
        for k in range(3):
            u = np.tanh(c * 1.1)
            v = x * c
            a[i] *= u
        v[1] *= c
        c = c + np.tanh(u * v[1])
    return a * c
ARGS = (np.array([0.3, 0.4, 0.5, 0.6]), 0.7, 0)
