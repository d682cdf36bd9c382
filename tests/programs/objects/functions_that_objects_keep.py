# functions that objects keep
# expect: right
def square(t):
    return t * t
class Layer:
    def __init__(self, w, act=square):
        self.w = w
        self.act = act
    def __call__(self, h):
        return self.act(self.w * h)
def f(x, c):
    first, second = Layer(x[0]), Layer(c, lambda t: t - 1.0)
    third = Layer(x[1], np.tanh)
    return third(first(x[2]) + second(third(0.4)))
