# object param
# expect: right
class M:
    def __init__(self, w):
        self.w = w
    def act(self, a):
        return np.tanh(a)
    def __call__(self, x, k=2.0):
        return self.act(x * self.w) * k
def f(x, c, m):
    return np.sum(m(x)) * m.act(c)
ARGS = (np.array([0.4,-0.7,1.2,0.3]), 0.6, M(1.3))
