# setattr
# expect: E5005
@dataclasses.dataclass
class Q:
    w: float
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2.0)
def f(c):
    return Q(c).w
ARGS = (0.6,)
