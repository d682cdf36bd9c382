# max of several kinds of items
# expect: right
def f(x, c):
    hs = [0.0] * 4
    for i in range(3):
        hs[i + 1] = np.tanh(hs[i] + x[i] * c)
    return max(hs) + min(x * c) + max(v * c for v in x) + max([c, x[0]]) + max(len(x), 2)
