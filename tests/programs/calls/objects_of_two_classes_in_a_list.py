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
LAYERS = [Scale(2.0), Shift(0.7)]
def f(x, c):
    for layer in LAYERS:
        x = layer(x) + c * layer.apply(x)
    return np.sum(x)
