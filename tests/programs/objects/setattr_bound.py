# setattr bound
# expect: E5005
@dataclasses.dataclass
class Q:
    w: float
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2.0)
def f(c):
    q = Q(c)
    return q.w * c
ARGS = (0.6,)
