# record argument method
# expect: right
@dataclasses.dataclass
class P:
    w: float
    b: np.ndarray
    def value(self, x):
        return np.tanh(self.w * x + self.b)
def f(p, c):
    return np.sum(p.value(c) * p.b)
ARGS = (P(0.5, np.array([0.1, 0.2])), 0.7)
