# record method
# expect: right
@dataclasses.dataclass
class P:
    w: float
    b: float
    k: float = 2.0
    def value(self, x):
        return np.tanh(self.w * x + self.b) * self.k
    def twice(self, x):
        return self.value(self.value(x))
def f(x, c):
    p = P(c, x[0])
    s = p.value(x[1]) + p.twice(x[2])
    p.w = p.w * s
    return s * p.w
