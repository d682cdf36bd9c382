# a dataclass with an __init__ of its own
# expect: right
@dataclasses.dataclass(init=False)
class P:
    a: float
    b: float
    def __init__(self, b, a):
        self.a = a
        self.b = b
def f(x, c):
    p = P(c, x[0])
    return p.a * p.a + p.b
