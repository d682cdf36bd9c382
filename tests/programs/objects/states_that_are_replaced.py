# states that are replaced
# expect: right
class State(typing.NamedTuple):
    pos: typing.Any
    vel: typing.Any
    t: float = 0.0
@dataclasses.dataclass(frozen=True)
class Model:
    k: float
    m: float = 2.0
def f(x, c):
    s = State(x[:2], x[2:])
    model = Model(c)
    soft = dataclasses.replace(model, k=0.5 * model.k)
    for _ in range(3):
        s = s._replace(vel=s.vel - 0.1 * soft.k / soft.m * s.pos, t=s.t + 0.1)
        s = s._replace(pos=s.pos + 0.1 * s.vel)
    turned = s._replace(pos=s.vel, vel=s.pos)
    return turned.pos @ s.pos + model.k * turned.t
