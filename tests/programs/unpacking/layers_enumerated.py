# layers enumerated
# expect: right
def f(x, layers):
    s = x
    for i, (w, b) in enumerate(layers[:-1]):
        s = np.tanh(w @ s + b) * (i + 1)
    w, b = layers[-1]
    return np.sum(w @ s + b)
ARGS = (np.array([0.3, 0.4]), [(np.eye(2), np.array([0.1, 0.2])), (np.ones((1, 2)), np.array([0.3]))])
