# dataclass arg
# expect: right
@dataclasses.dataclass
class P:
    w: float
    b: np.ndarray
def f(p, c):
    return np.sum(p.b * p.w) * c
ARGS = (P(0.5, np.array([0.1, 0.2])), 0.7)
