# layers of two kinds
# expect: right
def own(h):
    return h * np.sin(h)
LAYERS = [own, np.tanh, lambda h: h * h]
def f(x, c):
    for layer in LAYERS:
        x = layer(x) + 0.1
    return np.sum(x) * c
