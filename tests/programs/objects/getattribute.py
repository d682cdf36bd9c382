# getattribute
# expect: E5005
@dataclasses.dataclass
class Q:
    w: float
    def __getattribute__(self, name):
        v = object.__getattribute__(self, name)
        return v * 2.0 if name == "w" else v
def f(c):
    q = Q(c)
    return q.w * c
ARGS = (0.6,)
