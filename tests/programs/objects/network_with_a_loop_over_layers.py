# network with a loop over layers
# expect: right
class Net:
    def __init__(self):
        self.layers = [np.eye(2) * 0.5, np.eye(2)]
    def forward(self, x):
        for w in self.layers:
            x = np.tanh(w @ x)
        return np.sum(x)
def f(x, net):
    return net.forward(x) + net.forward(2.0 * x)
ARGS = (np.array([0.4, -0.7]), Net())
