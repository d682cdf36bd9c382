# objects that helpers make
# expect: right
class Fit(typing.NamedTuple):
    slope: typing.Any
    level: typing.Any
    r: float = 0.5
@dataclasses.dataclass
class State:
    pos: typing.Any
    vel: typing.Any
    @property
    def energy(self):
        return 0.5 * self.vel**2 + self.pos**2
    def advance(self, dt):
        self.vel = self.vel - dt * np.sin(self.pos)
        self.pos = self.pos + dt * self.vel
def fit(x, c):
    if c > 100.0:
        return Fit(c, x[1])
    return Fit(c * x[0], x.sum(), r=x[1])
def step(s, dt):
    s.advance(dt)
    return State(s.pos, 0.9 * s.vel)
def f(x, c):
    p = fit(x, c)
    slope, level, _ = p
    s = State(p.slope, p.r)
    for _ in range(3):
        s = step(s, 0.1 * c)
        s.advance(0.2)
    both = [s, State(slope, c)]
    return s.energy + sum(one.energy for one in both) + level * p[0]
