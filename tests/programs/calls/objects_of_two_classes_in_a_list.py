# objects of two classes in a list
# expect: right
class Scale:
    def __init__(self, k):
        self.k = k
    def __eq__(self, other):
        return self.k == other.k
    def __call__(self, h):
        return self.k * np.tanh(h)
    def apply(self, h):
        return self.k + h * h
class Shift(Scale):
    def __call__(self, h):
        return super().__call__(h) + h
def f(x, c, layers):
    for layer in layers:
        x = layer(x) + c * layer.apply(x)
    return np.sum(x)
ARGS = (np.array([0.4, -0.7]), 0.6, [Scale(2.0), Shift(0.7)])
