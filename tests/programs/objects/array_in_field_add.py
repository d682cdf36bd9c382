# array in field +=
# expect: E5010
@dataclasses.dataclass
class Q:
    w: object
def f(x, c):
    p = Q(x * c)
    y = p.w
    p.w += 1.0
    return np.sum(y * p.w)
