# append stack
# expect: right
def f(x, c):
    out = []
    h = c
    for i in range(4):
        h = np.tanh(h * x[i])
        out.append(h)
    y = np.stack(out)
    return np.sum(y * y)
