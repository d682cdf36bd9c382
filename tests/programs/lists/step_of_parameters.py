# step of parameters
# expect: right
def loss(ps, x):
    h = x
    for w, b in ps:
        h = np.tanh(w @ h + b)
    return np.sum(h * h)
def f(x, ps, lr):
    new = []
    for w, b in ps:
        new.append((w * (1.0 - lr), b - lr * b))
    return loss(new, x)
ARGS = (np.array([0.3, 0.4]), [(np.eye(2), np.array([0.1, 0.2])), (np.ones((1, 2)), np.array([0.3]))], 0.1)
