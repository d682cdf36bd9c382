# method
# expect: right
class M:
    def __init__(self, w):
        self.w = w
    def __call__(self, x):
        return x * self.w
    def apply(self, x):
        return np.sin(x * self.w)
m = M(2.0)
def f(x, c):
    return np.sum(m.apply(x)) * c
