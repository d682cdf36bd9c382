# keyword order
# expect: right
@dataclasses.dataclass
class Q:
    w: float
    n: float
def f(x, c):
    l = [c, x[0]]
    p = Q(n=l.pop(), w=l.pop())
    return p.w * p.w * p.n
