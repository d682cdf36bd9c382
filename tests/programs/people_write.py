"""Programs in the spellings that users of NumPy and SciPy have for common things: each must be right."""

from __future__ import annotations

# name -> the program, which defines `f`, and perhaps ARGS
WRITTEN = {
    "divide where": """
def f(x, c):
    z = np.full_like(x, -2.0)
    np.divide(c, x, out=z, where=x > 0.35)
    z = np.divide(z, c, out=z, where=x < 0.0)
    return np.sum(z * z * x) + np.sum(np.log(x, out=np.zeros_like(x), where=x > 0.0) * x)
""",
    "divide by nothing where": """
def f(x, c):
    parts = np.array([0.0, 1.0, 2.0, 0.0]) * c
    return np.sum(np.divide(x, parts, out=np.zeros_like(x), where=parts != 0.0) ** 2)
""",
    "other operations where": """
def f(x, c):
    y = np.arccosh(x + 1.0, out=np.zeros(4), where=x > 0.1) * np.power(c, x, out=np.ones(4), where=[True, False] * 2)
    np.multiply(y, x, out=y, where=y > 0.2)
    return np.sum(y * y)
""",
    "piecewise": """
def f(x, c):
    low = np.piecewise(x, [x < 0.0, x > 1.0], [lambda t: t * t * c, -1.0])
    all_ = np.piecewise(x, [x < 0.35, x < 0.0], [np.sin, lambda t: 3.0 * t, lambda t: np.sum(t) * t])
    return np.sum(low * x) + np.sum(np.piecewise(x, (x < 0.0,), (lambda t, k: t * k, lambda t, k: k), c) * all_)
""",
    "starred targets": """
def f(x, c):
    *head, last = x
    first, *_ = head
    a, *between, b = x * c
    total = last * sum(head) + first * len(between) * between[1]
    for one, *others in [x, 2.0 * x]:
        total += one * others[-1]
    return total * a + b
""",
    "r_": """
def f(x, c):
    a = np.r_[0.0, x * c, c, 1:3, 0:1:3j, -x]
    return np.sum(a * a * np.arange(len(a)))
""",
    "c_": """
def f(x, c):
    a = np.c_[np.ones(4), x, np.c_[x * c, np.sin(x)]]
    cube = np.ones((2, 3, 4)) * c
    return np.sum((a @ a.T) ** 2) + np.sum(np.c_[cube, cube * x] * np.arange(8.0))
""",
    "walrus where it may not be evaluated": """
def f(x, c):
    total = 0.0
    for v in x:
        if v > 0.0 and (w := np.sin(v)) > 0.35:
            total += w
        elif not (v > 0.0 or (u := v * c) > 0.0):
            total -= u * v
    k = 0
    while k < 4 and (held := x[k] * c) < 0.5:
        total += held
        k += 1
    return total + sum(d * d for v in x if v > -0.5 and (d := np.exp(v)) > 1.4)
""",
    "wrappers": """
import time
def timed(function):
    calls = []
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        start = time.perf_counter()
        with np.errstate(all="ignore"):
            result = function(*args, **kwargs)
        print(end="")
        calls.append(time.perf_counter() - start)
        return result
    return wrapper
def scaled(k):
    def around(function):
        @functools.wraps(function)
        def wrapper(t):
            return k * function(t)
        return wrapper
    return around
@timed
def sine(t, k=2.0):
    return np.sin(k * t)
@scaled(3.0)
def square(t):
    return t * t
@functools.lru_cache
def cube(t):
    return t**3
@timed
def f(x, c):
    return np.sum(sine(x, k=c) * square(x)) * cube(c)
""",
    "class methods": """
class Law:
    k = 2.0
    @staticmethod
    def rate(t):
        return np.cos(t)
    @classmethod
    def scaled(cls, t):
        return cls.rate(t) * cls.k
    def __init__(self, a):
        self.a = a
    def own(self, t):
        return self.rate(t) * self.a + self.scaled(t)
    def both(self, t):
        return self.own(t) * t
law = Law(3.0)
def f(x, c):
    return np.sum(Law.scaled(x) * law.both(x * c))
""",
    "functions that functions make": """
def poly(a, b=2.0, *, shift=0.5):
    scale = a * b
    def value(t):
        low = t - shift
        return scale * low * low
    return value
def tilted(k):
    return lambda t: k * t
def applied(g, t):
    return g(t) + 1.0
def f(x, c):
    def around(k):
        def g(t):
            return k * np.sin(t) * c
        return g
    g = around(x[0])
    value = poly(x[1], shift=c)
    total = 0.0
    for v in x:
        each = tilted(v)
        total += each(c) * value(v)
    return total + np.sum(g(value(x))) + tilted(x[2])(x[3]) + applied(poly(c, x[1]), x[0])
""",
    "layers that are dicts, all but the last": """
import logging
logger = logging.getLogger(__name__)
def f(params, x):
    *hidden, last = params
    h = x
    for layer in hidden:
        h = np.tanh(h * layer["w"] + layer["b"])
        logger.debug("h is %s", h)
    return np.sum(h * last["w"])
ARGS = ([{"w": 1.5, "b": 0.2}, {"w": np.array([0.3, -0.6]), "b": 0.1}, {"w": 2.0, "b": 0.0}], np.array([0.4, 0.9]))
""",
    "counters beside what varies": """
def f(x, c):
    state = {"m": 0.0 * x, "v": 1.0, "t": 0}
    seen = [1, c]
    def count():
        state["t"] += 1
    for k in range(4):
        count()
        state["m"] = c * state["m"] + x / state["t"]
        if state["t"] % 2 == 0:
            state["v"] = state["v"] * c ** state["t"] + seen[0]
        seen[0] = seen[0] + 2
        seen[1] = seen[1] * x[0] + seen[0]
    return np.sum(state["m"] ** 2) * state["v"] + seen[1] / state["t"]
""",
    "lists made of their own items": """
def blended(points, t):
    points = [2.0 * p for p in points]
    while len(points) > 1:
        points = [(1.0 - t) * a + t * b for a, b in zip(points[:-1], points[1:])]
    return points[0]
def f(x, c):
    levels = list(x)
    levels = [v * c for v in levels]
    low, high = (v * v for v in (levels[0], levels[3]))
    made = {"low": low}
    made.update(high=high, both=low * high)
    return blended(x, c) + made["low"] * made["high"] + made["both"]
""",
    "a default of None": """
def f(x, c, w=None, *, k=None):
    if w is None:
        w = np.sin(x)
    if k is not None:
        w = w * k
    return np.sum(w * x) * c
""",
    "bounds that may be None": """
def f(x, c, bounds=(None, 0.5)):
    low, high = bounds
    if low is not None:
        x = np.maximum(x, low)
    if high is not None:
        x = np.minimum(x, high)
    return np.sum(x * x) * c
""",
    "None in a function that stands in another": """
def f(x, c, s=None):
    def scaled(v, scale=None):
        if scale is None:
            scale = 1.5 if s is None else s
        return v * scale
    return np.sum(scaled(x) * scaled(x, c))
""",
    "states that are replaced": """
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
""",
    "functions that change what was made for them": """
def spent(v):
    v[0] *= v[1]
    for k in range(2):
        v[k] = v[2] * v[k]
    return np.sum(v * v)
def f(x, c):
    a = np.sin(x)
    s = spent(a * c)
    for k in range(2):
        s = s + spent(-a * (1.0 + k)) * x[0]
    return s * spent(a + x) + np.sum(a)
""",
}
