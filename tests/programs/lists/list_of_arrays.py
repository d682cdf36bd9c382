# list of arrays
# expect: right
def f(x, c):
    hs = [x]
    for i in range(3):
        hs.append(np.tanh(hs[-1] * c))
    return np.sum(hs[0] * hs[1]) + np.sum(np.stack(hs)) + np.sum(hs[-1] ** 2)
