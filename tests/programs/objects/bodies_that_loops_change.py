# bodies that loops change
# expect: right
@dataclasses.dataclass
class Body:
    x: float
    v: float
    def kick(self, force, dt):
        self.v += force * dt
        return self.v
def f(x, c):
    bodies = [Body(x[0], 0.1), Body(x[1], c)]
    first, last = bodies[0], bodies[-1]
    for _ in range(3):
        for a in bodies:
            for b in bodies:
                if a is not b:
                    a.kick(b.x - a.x, 0.1)
        for b in bodies:
            b.x += 0.1 * b.v
    first.x = first.x * last.v + last.kick(x[2], c)
    return sum(b.x**2 + b.v for b in bodies)
