# tuple in a field
# expect: E5005
@dataclasses.dataclass
class Q:
    w: object
def f(x, c):
    p = Q(c)
    p.w = (x[0], c)
    return p.w[0] * p.w[1]
