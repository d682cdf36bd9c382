# dataclass local
# expect: right
@dataclasses.dataclass
class P:
    w: float
    b: float
def f(x, c):
    p = P(c, x[0])
    return p.w * p.b
