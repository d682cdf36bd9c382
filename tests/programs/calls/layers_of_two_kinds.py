# layers of two kinds
# expect: right
def own(h):
    return h * np.sin(h)
def f(x, c, layers):
    for layer in layers:
        x = layer(x) + 0.1
    return np.sum(x) * c
ARGS = (np.array([0.4, -0.7]), 0.6, [own, np.tanh, lambda h: h * h])
