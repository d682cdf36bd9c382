# dict in a field
# expect: E5005
@dataclasses.dataclass
class Q:
    w: object
def f(x, c):
    p = Q(c)
    p.w = {"a": c * x[0]}
    return p.w["a"] * c
