# namedtuple argument
# expect: right
class N(typing.NamedTuple):
    a: float
    b: np.ndarray
def f(n, c):
    return np.sum(n.b * n.a) * c + n[0]
ARGS = (N(0.5, np.array([0.1, 0.2])), 0.7)
