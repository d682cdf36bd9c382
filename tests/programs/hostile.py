"""Programs written against the front end: names, classes and orders of evaluation that are easily misread."""

from __future__ import annotations

# name -> the program, which defines `f`, and perhaps ARGS
TAKEN = {
    "a method that its object replaces": """
class Model:
    def act(self, v):
        return np.tanh(v)
model = Model()
model.act = lambda v: v * 3.0
def f(x, c):
    return np.sum(model.act(x)) * c
""",
    "a function that is an attribute of an object": """
class Model:
    def __init__(self):
        self.act = lambda v: v * 7.0
model = Model()
def f(x, c):
    return np.sum(model.act(x)) * c
""",
    "part of a list, then a write": """
def f(x, c):
    out = [c, x[0], x[1]]
    v = out[:2]
    out[0] = x[2] * 3.0
    return v[0] * out[0] + v[1]
""",
    "a function of the user called map": """
def map(a, b):
    return np.sum(a) * b
def f(x, c):
    return map(x, c)
""",
    "a function of the user called dict": """
def dict(a, b):
    return a * b
def f(x, c):
    d = dict(x, c)
    return d[0]
""",
    "a function of the user called sum": """
def sum(items):
    return [2.0 * v for v in items]
def f(x, c):
    return sum([v * c for v in x])[1]
""",
    "a method": """
class Model:
    def act(self, v):
        return np.tanh(v)
model = Model()
def f(x, c):
    return np.sum(model.act(x)) * c
""",
    "a bound method as an argument": """
@dataclasses.dataclass
class Linear:
    w: float
    def apply(self, v):
        return v * self.w
def f(x, h):
    return np.sum(h(x))
ARGS = (np.array([0.4, -0.7]), Linear(3.0).apply)
""",
    "a number that np.matmul makes": """
def f(x, c):
    s = np.matmul(x, x)
    r = [s]
    s += c
    return s * r[0]
""",
    "an adjoint without axes that has two names": """
def f(x, c):
    a = x + x
    v = a * 0.5
    a[0] -= np.tanh(a[0] * c) * 1.23
    c = c + 0.2 * np.sum(v * v)
    b = a * x
    b[0] *= max(c, 0.123)
    return np.sum(a * b)
""",
    "items of a dict stored while a loop runs over its keys": """
def f(p, v, lr):
    for _ in range(3):
        for k in p:
            v[k] = 0.9 * v[k] + p[k] * lr
            p[k] = p[k] - v[k]
    return p["a"] * p["b"]
ARGS = ({"a": 1.0, "b": 2.0}, {"a": 0.1, "b": 0.3}, 0.1)
""",
    "keys of a dict in zip": """
def f(x, d):
    s = 0.0
    for k, v in zip(d, x):
        s = s + k * v * d[k]
    return s
ARGS = (np.array([0.4, -0.7, 1.2]), {0: 5.0, 1: 6.0, 2: 7.0})
""",
    "keys of a dict in enumerate": """
def f(x, d):
    s = 0.0
    for i, k in enumerate(d):
        s = s + k * x[i] * d[k]
    return s
ARGS = (np.array([0.4, -0.7, 1.2]), {2: 5.0, 1: 6.0, 0: 7.0})
""",
}

# name -> the code of the refusal, the program
TURNED_AWAY = {
    "an item of a list changed through a name": (
        "E5010",
        """
def f(x, c):
    out = [x * c, x]
    s = out[0]
    s += 1.0
    return np.sum(out[0] * s)
""",
    ),
    "a part written and changed by a call": (
        "E5010",
        """
def bump(a):
    a[0] += 1.0
    return a[0]
def f(x, c):
    a = x * c
    a[0] += bump(a)
    return np.sum(a * a)
""",
    ),
    "a nonlocal counted and changed by a call": (
        "E5010",
        """
def f(x, c):
    total = c
    def add(v):
        nonlocal total
        total = total + v
        return v
    total += add(x[0])
    return total * x[1]
""",
    ),
    "an appended value read before a call changes it": (
        "E5010",
        """
def bump(a):
    a[0] += 1.0
    return a[0]
def f(x, c):
    a = x * c
    ys = []
    ys.append(a[0] * 3.0 + bump(a))
    return ys[0] * a[0]
""",
    ),
    "a test read before a call changes it": (
        "E5010",
        """
def bump(a):
    a[0] += 1.0
    return a[0]
def f(x, c):
    a = x * c
    if a[0] * 100.0 < bump(a):
        return a[0] * c
    return a[0]
""",
    ),
    "a dataclass with an __init__ of its own": (
        "E5005",
        """
@dataclasses.dataclass(init=False)
class P:
    a: float
    b: float
    def __init__(self, b, a):
        self.a = a
        self.b = b
def f(x, c):
    p = P(c, x[0])
    return p.a * p.a + p.b
""",
    ),
    "a dataclass with a field given by name only": (
        "E5005",
        """
@dataclasses.dataclass
class K:
    a: float = dataclasses.field(kw_only=True)
    b: float = 0.0
def f(x, c):
    p = K(c, a=x[0])
    return p.a * p.a + p.b
""",
    ),
    "a NamedTuple with a __new__ of its own": (
        "E5005",
        """
class N(typing.NamedTuple):
    a: float
    b: float
class Doubled(N):
    def __new__(cls, a):
        return super().__new__(cls, a * 2.0, a)
def f(x, c):
    n = Doubled(c * x[0])
    return n.a * n.b
""",
    ),
    "a method that an argument replaces": (
        "E5003",
        """
class Model:
    def act(self, v):
        return np.tanh(v)
def f(x, c, model):
    return np.sum(model.act(x)) * c
model = Model()
model.act = lambda v: v * 3.0
ARGS = (np.array([0.4, -0.7]), 0.6, model)
""",
    ),
    "a class that finds attributes in its own way": (
        "E5003",
        """
class Model:
    def act(self, v):
        return np.tanh(v)
    def __getattribute__(self, name):
        return (lambda v: v * 3.0) if name == "act" else object.__getattribute__(self, name)
model = Model()
def f(x, c):
    return np.sum(model.act(x)) * c
""",
    ),
    "rows of an array that changes places": (
        "E5010",
        """
def f(x, c):
    a = np.sin(x)
    b = np.cos(x)
    for row in a:
        a, b = b, a
        a[1] *= row
    return np.sum(a * b)
""",
    ),
    "a method of a dataclass by the name of one of NamedTuple": (
        "E5003",
        """
@dataclasses.dataclass
class P:
    a: float
    b: float
    def _replace(self, a):
        return P(a * a, 3.0 * self.b)
def f(x, c):
    p = P(x[0], c)
    p = p._replace(a=x[2])
    return p.a * p.b
""",
    ),
    "a function of SciPy that is a wrapper of anything": (
        "E5003",
        """
from scipy import stats
def f(x, c):
    return stats.kstat(c * x)
""",
    ),
    "an image between pixels by cubic splines": (
        "E5006",
        """
from scipy import ndimage
def f(x, c):
    return np.sum(ndimage.map_coordinates(x, [c * np.arange(2.0)]))
""",
    ),
}
