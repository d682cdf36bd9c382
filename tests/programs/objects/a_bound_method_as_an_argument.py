# a bound method as an argument
# expect: right
@dataclasses.dataclass
class Linear:
    w: float
    def apply(self, v):
        return v * self.w
def f(x, h):
    return np.sum(h(x))
ARGS = (np.array([0.4, -0.7]), Linear(3.0).apply)
