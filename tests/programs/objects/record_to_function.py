# record to function
# expect: right
class S(typing.NamedTuple):
    q: float
    v: float
def step(s, h):
    return S(s.q + h * s.v, s.v - h * s.q ** 3)
def f(x, c):
    s = S(c, x[0])
    for i in range(3):
        q, v = s.q, s.v
        s = S(q + 0.1 * v, v - 0.1 * q ** 3)
    return s.q * s[1]
