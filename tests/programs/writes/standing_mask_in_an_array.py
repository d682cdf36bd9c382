# standing: mask in an array
# expect: right
def f(W):
    M = np.zeros_like(W)
    s = 0.0
    for i in range(2):
        t = W[i] > 0
        M[i] = t
        s = s + np.sum(W[i][t] ** 2)
    return s
ARGS = (np.array([[0.3, -0.5], [0.4, 0.2]]),)
