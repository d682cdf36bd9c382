# a method of a dataclass by the name of one of NamedTuple
# expect: right
@dataclasses.dataclass
class P:
    a: float
    b: float
    def _replace(self, a):
        return P(a * a, 3.0 * self.b)
def f(x, c):
    p = P(x[0], c)
    p = p._replace(a=x[2])
    return p.a * p.b
