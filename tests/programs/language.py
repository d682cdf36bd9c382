"""Small programs, one per construct of the language: what each must come to, and its arguments."""

from __future__ import annotations

import dataclasses
import functools
import math
import typing

import numpy as np

X = np.array([0.4, -0.7, 1.2, 0.3])
C = 0.6
NAMES = {
    "np": np,
    "functools": functools,
    "dataclasses": dataclasses,
    "typing": typing,
    "math": math,
    "__name__": "language",
}

# name -> the program, which defines `f`, and perhaps ARGS
RIGHT = {
    "raise in the last branch": """
def f(x, c, kind="square"):
    if kind == "square":
        return np.sum(x * x) * c
    elif kind == "sine":
        return np.sum(np.sin(x))
    else:
        raise ValueError(kind)
""",
    "raise behind a loop that returns": """
def f(x, c):
    for i in range(8):
        if c > 2.0:
            return np.sum(x * i) * c
        c = c * 1.3
    raise ValueError(c)
""",
    "return from an endless loop": """
def f(x, c):
    k = 0
    while True:
        c = c - 0.5 * (c - np.sin(c) - 0.1 * x[0])
        k += 1
        if k > 3:
            return c * x[1]
""",
    "dict comprehension over itself": """
def f(x, c):
    rates = {"a": x[0], "b": c}
    for _ in range(2):
        rates = {name: rates[name] * 2.0 + 0.1 * x[1] for name in rates}
    total = 0.0
    for name in rates:
        total = total + rates[name] * rates["a"]
    return total + rates["b"]
""",
    "list append view changes": """
def f(x, c):
    u = x.copy()
    hs = []
    for i in range(3):
        hs.append(u)
        u[0] = u[1] * c
    return np.sum(hs[0])
""",
    "copyto": """
def f(x, c):
    a = np.zeros(4)
    np.copyto(a, x * c)
    return np.sum(a * a)
""",
    "fill": """
def f(x, c):
    a = np.empty(4)
    a.fill(c)
    a[1] = x[0]
    return np.sum(a * x)
""",
    "out": """
def f(x, c):
    a = np.empty_like(x)
    np.multiply(x, c, out=a)
    np.sin(a, out=a)
    return np.sum(a)
""",
    "outres": """
def f(x, c):
    a = np.empty_like(x)
    b = np.multiply(x, c, out=a)
    return np.sum(a * b)
""",
    "addat": """
def f(x, c):
    a = np.zeros(3)
    np.add.at(a, np.array([0, 2, 0, 1]), x * c)
    return np.sum(a * a)
""",
    "sortin": """
def f(x, c):
    a = x * c
    a.sort()
    return np.sum(a * np.arange(4.0))
""",
    "ndarray": """
def f(x, c):
    a = np.ndarray(4)
    a[:] = x * c
    return np.sum(a * a)
""",
    "aug-array": """
def f(x, c):
    a = x.copy()
    b = a
    a += c
    return np.sum(a * b)
""",
    "alias2": """
def f(x, c):
    a = x.copy()
    b = a
    b[0] = c
    return np.sum(a * a)
""",
    "viewwrite": """
def f(x, c):
    a = x.copy()
    v = a[1:]
    v[0] = c
    return np.sum(a * a)
""",
    "nestedsub": """
def f(x, c):
    a = np.zeros((2, 4))
    a[0][1] = c
    a[1][:] = x
    a[0][2] += x[1]
    return np.sum(a * a)
""",
    "rowvar": """
def f(x, c):
    a = np.outer(x, x)
    for row in a:
        row[0] = c
        row *= 2.0
    return np.sum(a * a)
""",
    "T write": """
def f(x, c):
    a = np.outer(x, x)
    a.T[0] = c
    return np.sum(a * a)
""",
    "argwrite": """
def f(x, c):
    x[0] = c
    x *= 2.0
    return np.sum(x * x)
""",
    "proc": """
def fill(a, s):
    a[:] = s
    a[0] += 1.0
def f(x, c):
    a = np.zeros(4)
    fill(a, c)
    fill(a[1:], c * c)
    return np.sum(a * x)
""",
    "callee write+return": """
def step(a, s):
    a[0] = s
    return a * s
def f(x, c):
    a = x.copy()
    b = step(a, c)
    return np.sum(a * b)
""",
    "whiletrue": """
def f(x, c):
    i = 0
    s = c
    while True:
        s = s * 0.5 + x[i]
        i += 1
        if i >= 3:
            break
    return s
""",
    "forelse": """
def f(x, c):
    for i in range(4):
        if x[i] > 5.0:
            r = x[i]
            break
    else:
        r = c * x[0]
    return r
""",
    "whileelse": """
def f(x, c):
    i = 0
    s = 0.0
    while i < 3:
        s += x[i] * c
        if s > 100:
            break
        i += 1
    else:
        s = s * 2.0
    return s
""",
    "loopvar after": """
def f(x, c):
    for i in range(3):
        c = c * x[i]
    return c * x[i] * i
""",
    "zip": """
def f(x, c):
    s = 0.0
    for a, b in zip(x, x[::-1]):
        s += a * b * c
    return s
""",
    "enumerate": """
def f(x, c):
    s = 0.0
    for i, a in enumerate(x):
        s += a * i * c
    return s
""",
    "enumerate start": """
def f(x, c):
    s = 0.0
    for i, (a, b) in enumerate(zip(x, x * c), 1):
        s += a * i * b
    return s
""",
    "reversed": """
def f(x, c):
    s = 0.0
    for a in reversed(x):
        s = s * c + a
    return s
""",
    "listloop": """
def f(x, c):
    s = 0.0
    for w in [1.0, 2.0, 3.0]:
        s += w * c * x[0]
    for k in (1, 2):
        s += x[k]
    return s
""",
    "listlit loop active": """
def f(x, c):
    s = 0.0
    for w in [c, x[0], c * c]:
        s += w * x[1]
    return s
""",
    "dictitems": """
def f(x, c):
    d = {"a": c, "b": x[0]}
    s = 0.0
    for k, v in d.items():
        s += v * v
    return s
""",
    "append stack": """
def f(x, c):
    out = []
    h = c
    for i in range(4):
        h = np.tanh(h * x[i])
        out.append(h)
    y = np.stack(out)
    return np.sum(y * y)
""",
    "append array": """
def f(x, c):
    out = [c]
    for i in range(3):
        out.append(out[-1] * x[i])
    return np.sum(np.array(out))
""",
    "list assign": """
def f(x, c):
    out = [0.0] * 4
    for i in range(4):
        out[i] = c * x[i]
    return out[0] * out[3]
""",
    "list pop": """
def f(x, c):
    out = [c, x[0], x[1]]
    a = out.pop()
    return a * out[0]
""",
    "list extend": """
def f(x, c):
    out = []
    out.extend([c, x[0]])
    out.insert(0, c * c)
    return out[0] * out[2]
""",
    "comp": """
def f(x, c):
    return sum([x[i] * c for i in range(4)])
""",
    "genexp": """
def f(x, c):
    return sum(a * c for a in x)
""",
    "comp if": """
def f(x, c):
    ys = [a * c for a in x if a > 0]
    return np.sum(np.array(ys))
""",
    "dictcomp": """
def f(x, c):
    d = {i: x[i] * c for i in range(4)}
    return d[0] * d[2]
""",
    "dict set": """
def f(x, c):
    d = {}
    d["a"] = c * x[0]
    d["b"] = d["a"] * c
    return d["b"]
""",
    "dict state": """
def f(x, c):
    s = {"h": c, "n": 0}
    for i in range(3):
        s["h"] = np.tanh(s["h"] * x[i])
        s["n"] += 1
    return s["h"]
""",
    "dict arg": """
def f(p, x):
    return np.sum(np.tanh(x * p["w"] + p["b"]))
ARGS = ({"w": 0.5, "b": np.array([0.1, 0.2])}, np.array([1.0, 2.0]))
""",
    "closure": """
def f(x, c):
    def g(a):
        return np.sin(a) * c
    return np.sum(g(x)) + g(c)
""",
    "lambda": """
def f(x, c):
    g = lambda a: a * c + x[0]
    return g(c) * g(x[1])
""",
    "recursion": """
def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)
def f(x, c):
    return power(c, 5) * x[0]
""",
    "default args": """
def g(a, b=2.0, *, k=3.0):
    return a * b * k
def f(x, c):
    return g(c) + g(c, x[0]) + g(c, k=x[1])
""",
    "varargs": """
def g(*xs):
    s = 0.0
    for v in xs:
        s += v * v
    return s
def f(x, c):
    return g(c, x[0], x[1])
""",
    "method": """
class M:
    def __init__(self, w):
        self.w = w
    def __call__(self, x):
        return x * self.w
    def apply(self, x):
        return np.sin(x * self.w)
m = M(2.0)
def f(x, c):
    return np.sum(m.apply(x)) * c
""",
    "dataclass arg": """
@dataclasses.dataclass
class P:
    w: float
    b: np.ndarray
def f(p, c):
    return np.sum(p.b * p.w) * c
ARGS = (P(0.5, np.array([0.1, 0.2])), 0.7)
""",
    "dataclass local": """
@dataclasses.dataclass
class P:
    w: float
    b: float
def f(x, c):
    p = P(c, x[0])
    return p.w * p.b
""",
    "namedtuple": """
class N(typing.NamedTuple):
    a: float
    b: float
def f(x, c):
    n = N(c, x[0])
    return n.a * n.b + n[0]
""",
    "callable arg": """
def g(h, a):
    return h(a) * 2.0
def f(x, c):
    return np.sum(g(np.sin, x)) * c
""",
    "partial": """
def g(k, a):
    return k * a
h = functools.partial(g, 3.0)
def f(x, c):
    return h(c) * x[0]
""",
    "map": """
def f(x, c):
    return sum(map(lambda a: a * c, x))
""",
    "minmax": """
def f(x, c):
    return max(x[0], c) * min(c, x[1], 0.3)
""",
    "errstate": """
def f(x, c):
    with np.errstate(divide="ignore"):
        y = x / c
    return np.sum(y)
""",
    "else of a loop goes on with the outer one": """
def f(x, c):
    s = 0.0
    for i in range(3):
        for j in range(3):
            if j == i:
                continue
            if x[i] * x[j] > 0.3:
                break
            s += c * x[i] * x[j] ** 2
        else:
            s = s * 2.0
            continue
        s += x[i]
    return s
""",
    "else of a loop leaves the outer one": """
def f(x, c):
    s = c
    for i in range(4):
        for j in range(i):
            s = s * x[j] + c
        else:
            if s > 0.5:
                s = s * x[i]
                break
            elif i == 3:
                return s * x[0]
        s = s + x[i] * x[i]
    return s * s
""",
    "else of a loop returns": """
def f(x, c):
    s = c
    for i in range(3):
        k = 0
        while k < i:
            s = s * 0.5 + x[k]
            k += 1
            if s > 0.9:
                break
        else:
            if i == 2:
                return s * x[1]
        s = s + x[0]
    return s
""",
    "the item of an inner loop is read behind it, on a side that goes on": """
def f(x, c):
    s = c
    for i in range(1, 4):
        if x[i] < 0.5:
            for j in range(1, 4):
                s = s * x[i] + np.sin(s)
            s = s * x[j - i % 2] + c
            continue
        s = s * x[0] + x[i]
    return s
""",
    "argument scaled in place": """
def f(x, c):
    x *= 2.0
    x += c
    return np.sum(x * x * x)
""",
    "walrus in a test before else": """
def f(x, c):
    s, i, t = 0.0, 0, 1.0
    while (t := x[i] * c) < 0.6 and i < 3:
        s += t * t
        i += 1
    else:
        s *= 1.5
    return s + t
""",
    "function in a test before else": """
def f(x, c):
    def size(v):
        return np.sum(v * v) * c

    s, n = x * 1.0, 0
    while size(s) > 0.5:
        s = 0.7 * s * np.cos(s)
        n += 1
        if n > 20:
            break
    else:
        s = 3.0 * s
    return size(s)
""",
    "else of a test with a walrus leaves the outer loop": """
def f(x, c):
    s = 0.0
    for k in range(3):
        i = 0
        while (t := x[i] * c * (k + 1)) < 0.7 and i < 3:
            s += t * t
            i += 1
            if s > 0.9:
                break
        else:
            s *= 1.5
            if t > 2.0:
                continue
            if k == 1:
                break
        s += t * x[k]
    return s
""",
    "unpacked parameters": """
def model(t, a, b, k):
    return a * np.exp(-b * t) + k
def f(x, c):
    return np.sum((model(np.linspace(0.0, c, 5), *x[:3]) - 1.0) ** 2) + np.hypot(*x[2:])
""",
    "unpacked before what has a default": """
def model(t, a, b, k=2.0):
    return a * np.exp(-b * t) + k
def f(x, c):
    return model(c, *x[:2], k=x[2]) * model(*[c, *x[2:]], k=1.0)
""",
    "unpacked on one side only": """
def area(a, b):
    return a * b
def f(x, c):
    y = area(*x[:2]) if c > 0.0 else area(*x[:3])
    return y * c
""",
    "unpacked in a test": """
def area(a, b):
    return a * b
def f(x, c):
    p = x[2:] * c
    while area(*p) < 2.0:
        p = p * 1.5
    return area(*p)
""",
    "unpacked in trips": """
def area(a, b):
    return a * b
def f(x, c):
    a = 3.0
    return a * sum(area(*p) * c for p in (x[:2], x[1:3], x[::2]))
""",
    "unpacked before it is written into": """
def area(a, b):
    return a * b
def f(x, c):
    p = x[2:] * c
    y = area(*p)
    p[0] = c
    return y + area(*p)
""",
    "unpacked by methods and objects": """
class Model:
    k = 2.0
    def area(self, a, b):
        return a * b * self.k
    def __call__(self, a, b):
        return a + b * b
model = Model()
def f(x, c):
    shape = (2, 2)
    return model.area(*x[:2]) + model(*x[2:]) * np.sum(x.reshape(*shape)[0])
""",
    "unpacked options": """
def f(x, c):
    options = dict(axis=0, keepdims=True)
    weights = {"a": x[0] * c, "b": x[1]}
    def product(a, b, k):
        return a * b + k
    return product(**weights, k=weights["a"]) * np.sum(x, **options)[0]
""",
    "converted and written into": """
def f(x, c):
    y = x.astype(float)
    y[0] = c * y[1]
    y *= 2.0
    z = x.astype(np.float64, copy=False) * y
    return np.sum(z * x)
""",
    "walrus": """
def f(x, c):
    if (t := c * x[0]) > 0:
        return t * t
    return t
""",
    "starred": """
def f(x, c):
    a, *b = [c, x[0], x[1]]
    return a * b[0] * b[1]
""",
    "import": """
def f(x, c):
    import math
    from numpy import sin
    return math.exp(c) * np.sum(sin(x))
""",
    "annassign": """
def f(x, c):
    y: float = c * 2.0
    n: int
    n = 3
    return y * x[0] * n
""",
    "strcmp": """
def f(x, c, mode="sq"):
    if mode == "sq":
        return c * c * x[0]
    elif mode is None:
        return c
    return x[0]
""",
    "isinstance": """
def f(x, c):
    if isinstance(x, np.ndarray):
        return np.sum(x) * c
    return x * c
""",
    "del": """
def f(x, c):
    y = x * c
    z = np.sum(y)
    del y
    return z
""",
    "nested tuple": """
def f(x, c):
    state = (c, (x, c * c))
    for i in range(3):
        h, (v, w) = state
        state = (np.tanh(h * w), (v * h, w))
    return state[0] * np.sum(state[1][0])
""",
    "swap list": """
def f(x, c):
    a, b = x.copy(), np.zeros(4)
    for i in range(3):
        b[1:] = a[:-1] * c
        a, b = b, a
    return np.sum(a * a)
""",
    "inner bound": """
def f(x, c):
    s = 0.0
    for i in range(4):
        for j in range(i):
            s += x[i] * x[j] * c
    return s
""",
    "bound change": """
def f(x, c):
    n = 2
    s = c
    while n < 10:
        for i in range(n % 3):
            s = s * x[i]
        n += 3
    return s
""",
    "slices": """
def f(x, c):
    n = x.size
    a = np.zeros((n, n))
    for i in range(n):
        a[i, i:] = x[i:] * c
        a[i:, i] += x[i]
    return np.sum(a ** 2)
""",
    "mask aug": """
def f(x, c):
    a = x * c
    a[a > 0] *= 2.0
    a[a < 0] = 0.0
    return np.sum(a * x)
""",
    "ternary": """
def f(x, c):
    s = [x[i] if x[i] > 0 else -x[i] for i in range(4)]
    return sum(s) * c
""",
    "any": """
def f(x, c):
    if any(v > 1 for v in x):
        return c * x[0]
    return c
""",
    "global list": """
W = [1.0, 2.0]
def f(x, c):
    return W[0] * c + W[1] * x[0]
""",
    "while pop": """
def f(x, c):
    todo = [0, 1, 2]
    s = 0.0
    while todo:
        k = todo.pop()
        s += x[k] * c
    return s
""",
    "tuple return call": """
def g(a, b):
    return a * b, a + b
def f(x, c):
    p, q = g(c, x[0])
    r = g(p, q)
    return r[0] * r[1]
""",
    "np.append": """
def f(x, c):
    y = np.array([])
    for i in range(3):
        y = np.append(y, c * x[i])
    return np.sum(y * y)
""",
    "vectorize loop": """
def f(x, c):
    for _ in range(3):
        x = x + c * np.array([x[1] * x[2], x[0], x[1], x[3]])
    return np.sum(x)
""",
    "items nested comp": """
def f(x, c):
    m = [[x[i] * x[j] for j in range(3)] for i in range(3)]
    a = np.array(m)
    return np.sum(a @ a) * c
""",
    "rk4": """
def rk4(f, y, t, h):
    k1 = f(y, t)
    k2 = f(y + h / 2 * k1, t + h / 2)
    return y + h * (k1 + k2) / 2
def f(x, c):
    def rhs(y, t):
        return -c * y + np.sin(t)
    y = x
    for i in range(3):
        y = rk4(rhs, y, i * 0.1, 0.1)
    return np.sum(y * y)
""",
    "fun param": """
def f(x, c, h):
    return np.sum(h(x, c)) * h(c, c)
ARGS = (np.array([0.4,-0.7,1.2,0.3]), 0.6, lambda a, b: np.sin(a) * b)
""",
    "ufunc param": """
def f(x, c, h):
    return np.sum(h(x)) * h(c)
ARGS = (np.array([0.4,-0.7,1.2,0.3]), 0.6, np.tanh)
""",
    "object param": """
class M:
    def __init__(self, w):
        self.w = w
    def act(self, a):
        return np.tanh(a)
    def __call__(self, x, k=2.0):
        return self.act(x * self.w) * k
def f(x, c, m):
    return np.sum(m(x)) * m.act(c)
ARGS = (np.array([0.4,-0.7,1.2,0.3]), 0.6, M(1.3))
""",
    "nonlocal": """
def f(x, c):
    total = 0.0
    def add(v):
        nonlocal total
        total = total + v * c
    for i in range(3):
        add(x[i])
    return total
""",
    "nested write": """
def f(x, c):
    a = np.zeros(4)
    def put(i, v):
        a[i] = v
    for i in range(4):
        put(i, x[i] * c)
    return np.sum(a * a)
""",
    "nested defaults": """
def f(x, c):
    fs = 0.0
    for i in range(3):
        g = lambda a, i=i: a * x[i]
        fs = fs + g(c)
    return fs
""",
    "nested if call": """
def f(x, c):
    def g(a):
        if a > 0:
            return a * c
        return -a
    return g(x[0]) if c > 0.5 else g(x[1]) * g(x[2])
""",
    "while call": """
def f(x, c):
    def g(a):
        return a * a
    s = c
    while g(s) < 3.0:
        s = s * 1.5 + x[2]
    return s
""",
    "list rows": """
def f(x, c):
    rows = []
    for i in range(3):
        row = []
        for j in range(3):
            row.append(x[i] * x[j] + c)
        rows.append(row)
    a = np.array(rows)
    return np.sum(a @ a) + rows[1][2]
""",
    "list of arrays": """
def f(x, c):
    hs = [x]
    for i in range(3):
        hs.append(np.tanh(hs[-1] * c))
    return np.sum(hs[0] * hs[1]) + np.sum(np.stack(hs)) + np.sum(hs[-1] ** 2)
""",
    "list append copy": """
def f(x, c):
    u = x.copy()
    hs = []
    for i in range(3):
        hs.append(u.copy())
        u[0] = u[1] * c
        u[1] = np.sin(u[0])
    return np.sum(hs[0] * hs[2])
""",
    "sum list": """
def f(x, c):
    t = []
    for i in range(3):
        t.append(x[i] ** 2)
    t.append(c)
    return sum(t) * c
""",
    "sum mixed list": """
def f(x, c):
    return np.sum(sum([x, c, x * c]))
""",
    "stack pop loop": """
def f(x, c):
    s = [c, x[0]]
    r = 0.0
    while len(s) > 0:
        v = s.pop()
        r = r * 0.5 + v * v
        if len(s) == 1 and r < 0.3 and v > 0.5:
            s.append(v * x[1] * 0.5)
    return r
""",
    "list branch": """
def f(x, c):
    out = []
    if c > 0:
        out.append(c)
    else:
        out.append(x[0])
        out.append(x[1])
    out.append(x[2])
    return out[0] * out[-1]
""",
    "dict loop keys": """
def f(x, c):
    d = {}
    for k in ("a", "b"):
        d[k] = c * x[0]
        c = np.sin(c)
    s = 0.0
    for k in d:
        s += d[k] ** 2
    for k, v in d.items():
        s += v * x[1]
    for v in d.values():
        s *= v
    return s
""",
    "list early": """
def f(x, c):
    out = []
    for i in range(4):
        if x[i] < 0:
            continue
        out.append(x[i] * c)
        if len(out) == 2:
            break
    return sum(out)
""",
    "insert pop0": """
def f(x, c):
    q = [x[0], x[1]]
    q.insert(0, c)
    s = 0.0
    while q:
        v = q.pop(0)
        s = s * c + v * v
        if s < 0.2 and v > 0.2:
            q.append(v * 0.5)
    return s
""",
    "param list append": """
def f(xs, c):
    xs.append(c)
    return xs[0] * xs[-1]
ARGS = ([0.3, 0.4], 0.7)
""",
    "param list write": """
def f(xs, c):
    xs[0] = c * xs[1]
    return xs[0] * xs[1]
ARGS = ([0.3, 0.4], 0.7)
""",
    "param dict write": """
def f(p, c):
    p["a"] = c * p["b"]
    return p["a"] * p["b"]
ARGS = ({"a": 0.3, "b": 0.4}, 0.7)
""",
    "list return": """
def f(x, c):
    out = []
    for v in x:
        out.append(v * c)
    return out[0], out[1]
""",
    "while True list": """
def f(x, c):
    vals = [c]
    while True:
        vals.append(vals[-1] * 0.5 + x[0])
        if len(vals) > 4:
            break
    return vals[2] * vals[4]
""",
    "list in callee": """
def build(a, n):
    out = [a]
    for i in range(n):
        out.append(out[i] * a)
    return out
def f(x, c):
    p = build(c, 3)
    return p[0] * p[3] * x[0]
""",
    "list to callee": """
def total(vs):
    s = 0.0
    for v in vs:
        s = s + v * v
    return s
def f(x, c):
    vs = [c]
    vs.append(x[0])
    return total(vs) * c
""",
    "comp nested if else": """
def f(x, c):
    ys = [(a if a > 0 else c) * b for a, b in zip(x, x[::-1])]
    return np.sum(np.stack(ys)) + ys[0]
""",
    "argmax loop": """
def f(x, c):
    best = x[0]
    where = 0
    for i in range(1, 4):
        if x[i] <= best:
            continue
        best = x[i]
        where = i
    return best * c + x[where]
""",
    "callee appends": """
def put(xs, v):
    xs.append(v * v)
def f(x, c):
    xs = [c]
    put(xs, x[0])
    put(xs, xs[-1])
    return xs[1] * xs[2]
""",
    "callee appends returns": """
def put(xs, v):
    xs.append(v * v)
    return v
def f(x, c):
    xs = [c]
    t = put(xs, x[0])
    return xs[1] * t
""",
    "swap three": """
def f(x, c):
    old, now, new = x.copy(), x * c, np.zeros(4)
    for i in range(4):
        new[1:-1] = 2 * now[1:-1] - old[1:-1] + c * np.sin(now[2:] * now[:-2])
        new[0] = now[0] * c
        old, now, new = now, new, old
    return np.sum(now * now) + old[1]
""",
    "swap straight": """
def f(x, c):
    a = x.copy()
    b = np.zeros(4)
    b[0] = c * a[1]
    a, b = b, a
    a[1] = b[2] * a[0]
    return np.sum(a * b)
""",
    "jacobi": """
def f(u, c):
    u = u.copy()
    n = u.copy()
    for k in range(3):
        for i in range(1, 3):
            n[i] = 0.5 * (u[i - 1] + u[i + 1]) * c + n[i] * 0.1
        u, n = n, u
    return np.sum(u * n)
""",
    "record method": """
@dataclasses.dataclass
class P:
    w: float
    b: float
    k: float = 2.0
    def value(self, x):
        return np.tanh(self.w * x + self.b) * self.k
    def twice(self, x):
        return self.value(self.value(x))
def f(x, c):
    p = P(c, x[0])
    s = p.value(x[1]) + p.twice(x[2])
    p.w = p.w * s
    return s * p.w
""",
    "record to function": """
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
""",
    "record argument method": """
@dataclasses.dataclass
class P:
    w: float
    b: np.ndarray
    def value(self, x):
        return np.tanh(self.w * x + self.b)
def f(p, c):
    return np.sum(p.value(c) * p.b)
ARGS = (P(0.5, np.array([0.1, 0.2])), 0.7)
""",
    "namedtuple argument": """
class N(typing.NamedTuple):
    a: float
    b: np.ndarray
def f(n, c):
    return np.sum(n.b * n.a) * c + n[0]
ARGS = (N(0.5, np.array([0.1, 0.2])), 0.7)
""",
    "object passed on": """
class Options:
    k = 3.0
def helper(x, options):
    return np.sum(x * options.k)
def f(x, options):
    return helper(x, options) * options.k
ARGS = (np.array([0.4, -0.7]), Options())
""",
    "network with a loop over layers": """
class Net:
    def __init__(self):
        self.layers = [np.eye(2) * 0.5, np.eye(2)]
    def forward(self, x):
        for w in self.layers:
            x = np.tanh(w @ x)
        return np.sum(x)
def f(x, net):
    return net.forward(x) + net.forward(2.0 * x)
ARGS = (np.array([0.4, -0.7]), Net())
""",
    "one array, two names at once": """
def f(x, c):
    a = b = np.zeros(3)
    a[0] = c * x[1]
    return b[0] * x[0]
""",
    "dict built up": """
def f(x, c):
    s = {"a": c}
    s["b"] = s["a"] * x[0]
    s.update({"c": s["b"] * c})
    return sum(s.values())
""",
    "best so far, None at first": """
def f(x, c):
    best = None
    for v in x:
        if best is None or v > best:
            best = v
    return best * c
""",
    "rows exchanged": """
def f(x, c):
    a = np.zeros((2, 2))
    a[0], a[1] = x[:2], x[2:] * c
    a[0, :], a[1, :] = a[1, :].copy(), a[0, :].copy()
    return np.linalg.det(a)
""",
    "names that clash": """
def add(a, b):
    return a * b
def f(x, d):
    values = [add(d, 2.0)]
    values_bar = 0.0
    t1 = d * 3.0
    trips = 1.0
    left = d
    for i, item in enumerate(x):
        if item > 0.35:
            values.append(item * t1)
            break
        values_bar = values_bar + item * trips
    place = sum(v * left for v in values)
    result = [v for v in x]
    return place + values_bar + result[-1] * trips
""",
}

# name -> the code of the refusal, the program
REFUSED = {
    "viewwrite2": (
        "E5010",
        """
def f(x, c):
    a = x.copy()
    v = a.reshape(2, 2)
    w = v.T
    w[0, 1] *= c
    v += 1.0
    return np.sum(a * a)
""",
    ),
    "flat": (
        "E5010",
        """
def f(x, c):
    a = np.outer(x, x)
    a.flat[3] = c
    return np.sum(a * a)
""",
    ),
    "sortkey": (
        "E5005",
        """
def f(x, c):
    idx = sorted(range(4), key=lambda i: x[i])
    return x[idx[0]] * c
""",
    ),
    "nested recursion": (
        "E5005",
        """
def f(x, c):
    def g(n):
        return c if n == 0 else x[n] * g(n - 1)
    return g(3)
""",
    ),
    "order of effects": (
        "E5010",
        """
def bump(a):
    a[0] += 1.0
    return a[0]
def f(x, c):
    a = x * c
    return a[0] * 3.0 + bump(a) * a[0]
""",
    ),
    "list held change": (
        "E5010",
        """
def f(x, c):
    row = [c]
    rows = []
    for i in range(3):
        rows.append(row)
        row.append(x[i])
    return rows[0][2] * c
""",
    ),
    "unpacked where a parameter has a default": (
        "E5005",
        """
def model(t, a, b=2.0):
    return a * t + b
def f(x, c):
    return model(c, *x[:2])
""",
    ),
    "unpacked options that change": (
        "E5005",
        """
def product(a, b):
    return a * b
def f(x, c):
    options = {"a": x[0]}
    options["b"] = c
    return product(**options)
""",
    ),
    "converted without a copy and written into": (
        "E5010",
        """
def f(x, c):
    y = x * c
    z = y.astype(float, copy=False)
    z[0] = c
    return np.sum(y * z)
""",
    ),
    "swap view stale": (
        "E5010",
        """
def f(x, c):
    a = x.copy()
    b = np.ones(4)
    v = a[1:]
    a, b = b, a
    b[1] = c
    return np.sum(v) * np.sum(a * b)
""",
    ),
    "item of an item": (
        "E5010",
        """
def f(x, c):
    m = [[0.0] * 3 for _ in range(2)]
    m[0][1] = c
    return m[0][1] * x[0]
""",
    ),
}
