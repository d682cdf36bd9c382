# lists as long as an array
# expect: right
def f(x, c):
    n = len(x)
    hs = [0.0] * n
    gs = [1.0] * (n + 1)
    for i in range(3):
        hs[i + 1] = np.tanh(hs[i] + x[i] * c)
        gs[i] = hs[i] * c
    return max(hs) + sum(gs)
