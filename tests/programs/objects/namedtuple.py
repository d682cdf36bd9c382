# namedtuple
# expect: right
class N(typing.NamedTuple):
    a: float
    b: float
def f(x, c):
    n = N(c, x[0])
    return n.a * n.b + n[0]
