# standing: bound of a loop in an array
# expect: right
def f(x):
    a = np.zeros(3)
    s = 0.0
    for i in range(3):
        k = i + 1
        a[i] = k
        for j in range(k):
            s = s * x[j] + x[j]
    return s + a[0]
ARGS = (np.array([0.3, -0.5, 0.9]),)
