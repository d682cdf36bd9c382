# layers by index
# expect: right
def f(x, layers):
    s = x
    for i in range(len(layers)):
        w, b = layers[i]
        s = np.tanh(w @ s + b)
    return np.sum(s)
ARGS = (np.array([0.3, 0.4]), [(np.eye(2), np.array([0.1, 0.2])), (np.ones((1, 2)), np.array([0.3]))])
