# a dataclass with a field given by name only
# expect: E5005
@dataclasses.dataclass
class K:
    a: float = dataclasses.field(kw_only=True)
    b: float = 0.0
def f(x, c):
    p = K(c, a=x[0])
    return p.a * p.a + p.b
