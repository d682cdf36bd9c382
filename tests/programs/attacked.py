"""Programs that were written to break the front end, with what each comes to: right, or the code of its refusal."""

# ruff: noqa: E501
from __future__ import annotations

# name -> `right` or a code, the program, which defines `f`, and perhaps ARGS
ATTACKED = {
    "display into array": (
        "right",
        """
def f(x):
    a = np.zeros(2)
    a[:] = [x[0], 3.0 * x[1]]
    return np.sum(a * a)
ARGS = (np.array([1.0, 2.0]),)
""",
    ),
    "display into row": (
        "right",
        """
def f(x, c):
    a = np.zeros((2, 2))
    a[0] = (c, x[0])
    a[1] += [x[1], c]
    return np.sum(a * a)
""",
    ),
    "display into places": (
        "right",
        """
def f(x, c):
    a = np.zeros(4)
    a[[0, 2]] = [x[0], c]
    return np.sum(a * a)
""",
    ),
    "copyto display": (
        "right",
        """
def f(x, c):
    a = np.zeros(2)
    np.copyto(a, [x[0], c])
    return np.sum(a * a)
""",
    ),
    "tuple appended": (
        "right",
        """
def f(x, c):
    l = []
    l.append((x[1], c))
    return l[0][0] * l[0][1]
""",
    ),
    "dict appended": (
        "right",
        """
def f(x, c):
    l = []
    l.append({"a": c})
    return l[0]["a"] * x[0]
""",
    ),
    "list stored in list": (
        "E5005",
        """
def f(x, c):
    l = [0.0, 0.0]
    l[0] = [c, x[0]]
    return l[0][0] * l[0][1]
""",
    ),
    "extend with tuples": (
        "right",
        """
def f(x, c):
    l = []
    l.extend([(c, x[0]), (x[1], c)])
    return l[0][0] * l[1][0]
""",
    ),
    "tuple stored in dict": (
        "right",
        """
def f(x, c):
    d = {}
    d["k"] = (x[1], c)
    return d["k"][0] * d["k"][1]
""",
    ),
    "comprehension of tuples": (
        "right",
        """
def f(x, c):
    l = [(v, v * c) for v in x]
    return l[0][0] * l[1][1]
""",
    ),
    "tuple in a field": (
        "E5005",
        """
@dataclasses.dataclass
class Q:
    w: object
def f(x, c):
    p = Q(c)
    p.w = (x[0], c)
    return p.w[0] * p.w[1]
""",
    ),
    "add.at of a display": (
        "right",
        """
def f(x, c):
    a = np.zeros(3)
    np.add.at(a, [0, 1, 1], [c, x[0], c])
    return np.sum(a * a)
""",
    ),
    "insert a tuple": (
        "right",
        """
def f(x, c):
    l = [(c, c)]
    l.insert(0, (c, x[0]))
    return l[0][0] * l[0][1] * l[1][0]
""",
    ),
    "dict in a field": (
        "E5005",
        """
@dataclasses.dataclass
class Q:
    w: object
def f(x, c):
    p = Q(c)
    p.w = {"a": c * x[0]}
    return p.w["a"] * c
""",
    ),
    "item +=": (
        "right",
        """
def f(x, c):
    l = [0.0, 0.0]
    for i in range(4):
        l[i % 2] += x[i] * c
    return l[0] * l[1]
""",
    ),
    "item -=": (
        "right",
        """
def f(x, c):
    l = [v for v in x]
    l[1] -= c * l[0]
    l[1] -= c * l[1]
    return l[0] * l[1]
""",
    ),
    "item of parameter list +=": (
        "right",
        """
def f(l, c):
    l[0] += c
    l[0] -= l[1] * c
    return l[0] * l[1]
ARGS = ([0.4, 0.7], 0.6)
""",
    ),
    "dict comprehension item +=": (
        "right",
        """
def f(x, c):
    d = {k: x[k] for k in range(3)}
    d[1] += c * d[0]
    return d[1] * d[2]
""",
    ),
    "row then write": (
        "E5010",
        """
def f(x):
    a = np.outer(x, x)
    r = a[0]
    a[0, 1] = 3.0
    return np.sum(r)
ARGS = (np.array([1.0, 2.0]),)
""",
    ),
    "rows exchanged by three": (
        "E5010",
        """
def f(x, c):
    a = np.outer(x, x)
    t = a[0]
    a[0] = a[1]
    a[1] = t
    return np.sum(a[0] * x) + a[1, 2] * c
""",
    ),
    "rows exchanged at once": (
        "E5010",
        """
def f(x, c):
    a = np.outer(x, x)
    a[0], a[1] = a[1], a[0]
    return np.sum(a[0] * x) + a[1, 2] * c
""",
    ),
    "two rows at once": (
        "E5010",
        """
def f(x, c):
    a = np.outer(x, x)
    r, s = a[0], a[1]
    a[0, 0] = c
    return np.sum(r * s)
""",
    ),
    "row carried": (
        "right",
        """
def f(x, c):
    a = np.outer(x, x)
    r = a[0]
    for i in range(3):
        a[0, i] = np.sum(r) * c
        r = a[i]
    return np.sum(r)
""",
    ),
    "callee gives a": (
        "right",
        """
def ident(a, i):
    return a
def f(x, c):
    a = x * c
    v = ident(a, 0)
    a[0] = 7.0
    return np.sum(v * x[0])
""",
    ),
    "callee gives a[1:]": (
        "right",
        """
def ident(a, i):
    return a[1:]
def f(x, c):
    a = x * c
    v = ident(a, 0)
    a[0] = 7.0
    return np.sum(v * x[0])
""",
    ),
    "callee gives a.T": (
        "right",
        """
def ident(a, i):
    return a.T
def f(x, c):
    a = x * c
    v = ident(a, 0)
    a[0] = 7.0
    return np.sum(v * x[0])
""",
    ),
    "callee gives a[i]": (
        "right",
        """
def ident(a, i):
    return a[i]
def f(x, c):
    a = x * c
    v = ident(a, 0)
    a[0] = 7.0
    return np.sum(v * x[0])
""",
    ),
    "callee gives a if i == 0 else a * 2.0": (
        "E5010",
        """
def ident(a, i):
    return a if i == 0 else a * 2.0
def f(x, c):
    a = x * c
    v = ident(a, 0)
    a[0] = 7.0
    return np.sum(v * x[0])
""",
    ),
    "callee gives np.asarray(a)": (
        "E5010",
        """
def ident(a, i):
    return np.asarray(a)
def f(x, c):
    a = x * c
    v = ident(a, 0)
    a[0] = 7.0
    return np.sum(v * x[0])
""",
    ),
    "callee gives parts": (
        "E5010",
        """
def parts(a):
    return a[:2], a[2:]
def f(x, c):
    a = x * c
    v, w = parts(a)
    a[0] = 7.0
    return np.sum(v * w)
""",
    ),
    "or as value": (
        "right",
        """
def f(c, k=None):
    k = k or c
    return k * c
ARGS = (0.6,)
""",
    ),
    "or as value 2": (
        "right",
        """
def f(x, c):
    y = x[0] or c
    return y * y
""",
    ),
    "and as value": (
        "right",
        """
def f(x, c):
    y = x[0] and c
    return y * y
""",
    ),
    "r_": (
        "right",
        """
def f(c):
    return np.sum(np.r_[c, c * c])
ARGS = (0.6,)
""",
    ),
    "c_": (
        "right",
        """
def f(x, c):
    return np.sum(np.c_[x, x * c])
""",
    ),
    "conditional read": (
        "right",
        """
def f(x, c):
    m = np.outer(x, x)
    m[1] = np.sin(m[2] if c > 0 else c)
    return np.sum(m)
""",
    ),
    "extend reads itself": (
        "right",
        """
def f(x, c):
    out = [c]
    out.extend([out[-1] * x[0], out[-1] * x[1]])
    return out[1] * out[2]
""",
    ),
    "+= reads itself": (
        "right",
        """
def f(x, c):
    out = [c]
    out += [out[-1] * x[0], out[-1] * x[1]]
    return out[1] * out[2]
""",
    ),
    "update reads itself": (
        "right",
        """
def f(x, c):
    d = {"a": c, "b": x[0]}
    d.update({"a": d["b"] * 2.0, "b": d["a"] * 3.0})
    return d["a"] * d["b"] * d["b"]
""",
    ),
    "list plus array": (
        "right",
        """
def f(x, c):
    out = [c, c, c, 1.0]
    out = out + x
    return np.sum(out * out)
""",
    ),
    "list += array": (
        "E5005",
        """
def f(x, c):
    out = [c, c, c, 1.0]
    out += x
    return out[0] * out[3] + len(out)
""",
    ),
    "pop(-2)": (
        "right",
        """
def f(x, c):
    out = [c, x[0], x[1]]
    out.pop(-2)
    return out[0] * out[1] * c
""",
    ),
    "a = pop(-2)": (
        "right",
        """
def f(x, c):
    out = [c, x[0], x[1]]
    a = out.pop(-2)
    return out[0] * out[1] * a
""",
    ),
    "pop(k)": (
        "right",
        """
def f(x, c):
    out = [c, x[0], x[1], x[2]]
    k = -3
    out.pop(k)
    return out[0] * out[1] * out[2]
""",
    ),
    "del [-2]": (
        "right",
        """
def f(x, c):
    out = [c, x[0], x[1]]
    del out[-2]
    return out[0] * out[1] * c
""",
    ),
    "reverse shared": (
        "E5010",
        """
def f(x, c):
    row = [c, x[0]]
    rows = [row]
    row.reverse()
    return rows[0][0] ** 2 * c
""",
    ),
    "clear shared": (
        "E5010",
        """
def f(x, c):
    a = [c, x[0]]
    b = a
    a.clear()
    a.append(x[1])
    return b[0] * c
""",
    ),
    "slice store": (
        "E5005",
        """
def f(x, c):
    l = [c, x[0], x[1]]
    l[1:] = [c * c, c * x[2]]
    return l[1] * l[2]
""",
    ),
    "array item -=": (
        "E5010",
        """
def f(x):
    l = [x * 2.0]
    y = l[0]
    l[0] -= x
    return np.sum(y * l[0])
ARGS = (np.array([1.0, 2.0]),)
""",
    ),
    "array in dict *=": (
        "E5010",
        """
def f(x, c):
    d = {"a": x * c}
    y = d["a"]
    d["a"] *= x
    return np.sum(y * d["a"])
""",
    ),
    "array in field +=": (
        "E5010",
        """
@dataclasses.dataclass
class Q:
    w: object
def f(x, c):
    p = Q(x * c)
    y = p.w
    p.w += 1.0
    return np.sum(y * p.w)
""",
    ),
    "list of array rows +=": (
        "E5010",
        """
def f(x, c):
    a = np.outer(x, x)
    l = list(a)
    l[0] += c
    return np.sum(a * a) + np.sum(l[0])
""",
    ),
    "array param item -=": (
        "E5010",
        """
def f(ps, c):
    ps[0] -= c * ps[0]
    return np.sum(ps[0])
ARGS = ([np.array([1.0, 2.0])], 0.5)
""",
    ),
    "dict ws shared *=": (
        "E5010",
        """
def f(ws, c):
    ws["a"] = ws["b"]
    ws["b"] *= c
    return np.sum(ws["a"] * ws["b"])
ARGS = ({"a": np.array([1.0, 2.0]), "b": np.array([0.5, 2.0])}, 0.5)
""",
    ),
    "pop times sum": (
        "E5010",
        """
def f(x, c):
    out = [c, x[0], x[1]]
    return out.pop() * sum([v * v for v in out])
""",
    ),
    "walrus pop": (
        "E5010",
        """
def f(x, c):
    out = [c, x[0], x[1]]
    return out[-1] - (t := out.pop()) * out[-1]
""",
    ),
    "pop times closure": (
        "E5010",
        """
def f(x, c):
    out = [c, x[0], x[1]]
    def g():
        return out[-1]
    return out.pop() * g()
""",
    ),
    "closure append order": (
        "E5010",
        """
def f(x, c):
    b = [c]
    def hit(v):
        b.append(v * v)
        return v
    return b[-1] * hit(x[0])
""",
    ),
    "closure pop order": (
        "E5010",
        """
def f(x, c):
    b = [c, x[1], x[2]]
    def hit(v):
        return b.pop() * v
    return b[-1] * hit(x[0]) + b[-1]
""",
    ),
    "nonlocal in comprehension": (
        "E5010",
        """
def f(x, c):
    t = c
    def hit(v):
        nonlocal t
        t = t * v
        return v
    return t + sum([hit(a) for a in x])
""",
    ),
    "walrus and closure": (
        "E5010",
        """
def f(x, c):
    t = c
    def g():
        return t * x[0]
    return g() * (t := x[1])
""",
    ),
    "pop(idx.pop())": (
        "right",
        """
def f(x, c):
    out = [c, x[0], x[1], x[2]]
    idx = [0, 1, 2]
    y = out.pop(idx.pop())
    return y * out[0] + len(idx)
""",
    ),
    "l[-2] += l.pop()": (
        "E5010",
        """
def f(x, c):
    l = [c, x[0], x[1]]
    l[-2] += l.pop()
    return l[0] * l[1]
""",
    ),
    "a[l.pop()] = v[l[-1]]": (
        "E5010",
        """
def f(x, c):
    l = [0, 1, 2]
    a = x * c
    v = x * 2.0
    a[l.pop()] = v[l[-1]]
    return np.sum(a * a)
""",
    ),
    "keyword order": (
        "E5010",
        """
@dataclasses.dataclass
class Q:
    w: float
    n: float
def f(x, c):
    l = [c, x[0]]
    p = Q(n=l.pop(), w=l.pop())
    return p.w * p.w * p.n
""",
    ),
    "keyword order nested": (
        "E5010",
        """
def f(x, c):
    l = [c, x[0]]
    def h(p, q):
        return p * p * q
    return h(q=l.pop(), p=l.pop())
""",
    ),
    "i = b[i] = 2": (
        "E5005",
        """
def f(x, c):
    b = x * c
    i = 0
    i = b[i] = 2
    return np.sum(b * b) * i
""",
    ),
    "0-d argument": (
        "E5010",
        """
def f(a, c):
    a += c
    return a * a
ARGS = (np.array(1.3), 0.6)
""",
    ),
    "where gives 0-d": (
        "right",
        """
def f(x, c):
    s = np.where(c > 0, c, x[0])
    t = s
    s += c
    return s * t
""",
    ),
    "default of a global": (
        "right",
        """
K = 2.0
def g(a, k=K):
    return a * k
K = 5.0
def f(c):
    return g(c)
ARGS = (0.6,)
""",
    ),
    "object with arithmetic": (
        "E5017",
        """
class V:
    def __mul__(self, other):
        return other * other
v = V()
def f(c):
    return v * c
ARGS = (0.6,)
""",
    ),
    "masked array": (
        "E5017",
        """
M = np.ma.array([1.0, 2.0, 3.0, 4.0], mask=[0, 1, 0, 0])
def f(x, c):
    return np.sum(M * x) * c
""",
    ),
    "setattr": (
        "E5005",
        """
@dataclasses.dataclass
class Q:
    w: float
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2.0)
def f(c):
    return Q(c).w
ARGS = (0.6,)
""",
    ),
    "setattr bound": (
        "E5005",
        """
@dataclasses.dataclass
class Q:
    w: float
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2.0)
def f(c):
    q = Q(c)
    return q.w * c
ARGS = (0.6,)
""",
    ),
    "getattribute": (
        "E5005",
        """
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
""",
    ),
    "user len": (
        "E5005",
        """
def len(a):
    return 2
def f(x, c):
    s = c
    for v in x:
        s = s + v * c
    return s
""",
    ),
    "user reversed": (
        "E5005",
        """
def reversed(a):
    return a
def f(x, c):
    s = c
    for i in range(3):
        s = s * x[i] + c
    return s
""",
    ),
    "user list": (
        "E5005",
        """
def list(a):
    return [0]
def f(x, c):
    s = c
    for k, v in {0: c, 1: x[0]}.items():
        s = s + v * k * c
    return s
""",
    ),
    "user min": (
        "right",
        """
def min(a, b):
    return 1
def f(x, c):
    s = c
    for v, w in zip(x, x):
        s = s + v * w * c
    return s
""",
    ),
    "user range": (
        "E5005",
        """
def range(a):
    return [0]
def f(x, c):
    s = c
    for v in x:
        s = s + v * c
    return s
""",
    ),
    "user enumerate": (
        "right",
        """
def enumerate(a):
    return [(0, 1.0)]
def f(x, c):
    s = c
    for i, v in enumerate(x):
        s = s + v * c
    return s
""",
    ),
    "user sum": (
        "right",
        """
def sum(a):
    return a[0]
def f(x, c):
    s = c
    s = s + sum([v * c for v in x])
    return s
""",
    ),
    "user slice": (
        "E5005",
        """
slice = 3
def f(x, c):
    s = c
    s = s + x[1:][0] * c
    return s
""",
    ),
    "dot of displays": (
        "right",
        """
def f(x, c):
    return np.dot([c, x[0]], [x[1], c])
""",
    ),
    "matmul display": (
        "right",
        """
A = np.array([[1.0, 2.0], [3.0, 4.0]])
def f(x, c):
    return np.sum(A @ [c, x[0]])
""",
    ),
    "method with side effect": (
        "E5005",
        """
class Model:
    def __init__(self):
        self.w = 2.0
    def act(self, v):
        self.w = self.w * 2.0
        return v * self.w
model = Model()
def f(x, c):
    return np.sum(model.act(x)) * c
""",
    ),
    "layers": (
        "right",
        """
def f(x, layers):
    s = x
    for w, b in layers:
        s = np.tanh(w @ s + b)
    return np.sum(s)
ARGS = (np.array([0.3, 0.4]), [(np.eye(2), np.array([0.1, 0.2])), (np.ones((1, 2)), np.array([0.3]))])
""",
    ),
    "layers by index": (
        "right",
        """
def f(x, layers):
    s = x
    for i in range(len(layers)):
        w, b = layers[i]
        s = np.tanh(w @ s + b)
    return np.sum(s)
ARGS = (np.array([0.3, 0.4]), [(np.eye(2), np.array([0.1, 0.2])), (np.ones((1, 2)), np.array([0.3]))])
""",
    ),
    "layers of dicts": (
        "right",
        """
def f(x, layers):
    s = x
    for p in layers:
        s = np.tanh(p["w"] @ s + p["b"])
    return np.sum(s)
ARGS = (np.array([0.3, 0.4]), [{"w": np.eye(2), "b": np.array([0.1, 0.2])}, {"w": np.ones((1, 2)), "b": np.array([0.3])}])
""",
    ),
    "layers enumerated": (
        "right",
        """
def f(x, layers):
    s = x
    for i, (w, b) in enumerate(layers[:-1]):
        s = np.tanh(w @ s + b) * (i + 1)
    w, b = layers[-1]
    return np.sum(w @ s + b)
ARGS = (np.array([0.3, 0.4]), [(np.eye(2), np.array([0.1, 0.2])), (np.ones((1, 2)), np.array([0.3]))])
""",
    ),
    "dict of dicts": (
        "right",
        """
def f(x, ps):
    s = x
    for k in ps:
        s = np.tanh(ps[k]["w"] @ s + ps[k]["b"])
    return np.sum(s)
ARGS = (np.array([0.3, 0.4]), {"a": {"w": np.eye(2), "b": np.array([0.1, 0.2])}, "c": {"w": np.ones((1, 2)), "b": np.array([0.3])}})
""",
    ),
    "dict items of dicts": (
        "right",
        """
def f(x, ps):
    s = x
    for k, p in ps.items():
        s = np.tanh(p["w"] @ s + p["b"])
    return np.sum(s)
ARGS = (np.array([0.3, 0.4]), {"a": {"w": np.eye(2), "b": np.array([0.1, 0.2])}, "c": {"w": np.ones((1, 2)), "b": np.array([0.3])}})
""",
    ),
    "nested targets": (
        "right",
        """
def f(x, c):
    s = 0.0
    for a, (b, d) in [(c, (x[0], c)), (x[1], (c, x[2]))]:
        s = s + a * b * d
    return s
""",
    ),
    "combinations": (
        "right",
        """
import itertools
def f(x, c):
    s = 0.0
    for i, j in itertools.combinations(range(3), 2):
        s = s + x[i] * x[j] * c
    return s
""",
    ),
    "ndindex": (
        "right",
        """
def f(x, c):
    m = x.reshape(2, 2)
    s = 0.0
    for i, j in np.ndindex(2, 2):
        s = s + m[i, j] * (i + j) * c
    return s
""",
    ),
    "sqrt of display": (
        "right",
        """
def f(x, c):
    return np.sum(np.sqrt([c, x[0]]))
""",
    ),
    "where of display": (
        "right",
        """
def f(x, c):
    return np.sum(np.where(x[:2] > 0, [c, x[0]], 0.0))
""",
    ),
    "array += display": (
        "right",
        """
def f(x, c):
    a = x[:2] * c
    a += [c, x[0]]
    return np.sum(a * a)
""",
    ),
    "[c] * 3": (
        "right",
        """
def f(x, c):
    l = [c] * 3
    return l[0] * l[1] * x[0]
""",
    ),
    "tuple grows": (
        "E5005",
        """
def f(x, c):
    t = ()
    for i in range(3):
        t = t + (x[i] * c,)
    return t[0] * t[1]
""",
    ),
    "norm of display": (
        "right",
        """
def f(x, c):
    return np.linalg.norm([c, x[0]])
""",
    ),
    "maximum of display": (
        "right",
        """
def f(x, c):
    return np.sum(np.maximum([c, x[0]], 0.5))
""",
    ),
    "global list times array": (
        "right",
        """
L = [1.0, 2.0, 3.0, 4.0]
def f(x, c):
    return np.sum(x * L) * c
""",
    ),
    "mean and prod of list": (
        "right",
        """
def f(x, c):
    l = []
    for v in x:
        l.append(v * c)
    return np.mean(l) * np.prod(l)
""",
    ),
    "callee extends by +": (
        "right",
        """
def g(l, v):
    l = l + [v]
    return l
def f(x, c):
    l = g([x[0]], c)
    return l[0] * l[1]
""",
    ),
    "store of higher rank": (
        "right",
        """
def f(x, c):
    a = np.zeros(4)
    e = x[:2] * c
    a[1:3] = e.reshape(1, 1, 2)
    return np.sum(a * a)
""",
    ),
    "store of a row": (
        "right",
        """
def f(x, c):
    a = np.zeros(4)
    a[:] = x[None, :] * c
    return np.sum(a * a)
""",
    ),
    "subscript as loop target": (
        "right",
        """
def f(x, c):
    a = np.zeros(2)
    for a[0] in x:
        a[1] += a[0] * c
    return np.sum(a)
""",
    ),
    "row of a display changed": (
        "E5010",
        """
def f(x, c):
    s = 0.0
    for r in [x * c, x * 2.0]:
        r += c
        s = s + np.sum(r * r)
    return s
""",
    ),
    "rows of parameter changed": (
        "E5010",
        """
def f(ws, c):
    for w in ws:
        w *= c
    return np.sum(ws[0])
ARGS = ([np.array([1.0, 2.0])], 0.5)
""",
    ),
    "all of list": (
        "right",
        """
def f(x, c):
    if all([v > -5.0 for v in x]):
        return c * x[0]
    return c
""",
    ),
    "del slice": (
        "E5005",
        """
def f(x, c):
    out = [c, x[0], x[1]]
    del out[1:]
    return out[0] * x[0]
""",
    ),
    "mutable default": (
        "E5010",
        """
def g(a, memo=[]):
    memo.append(a)
    return memo[0] * a
def f(x, c):
    return g(c) * x[0]
""",
    ),
    "float parameter becomes an array": (
        "right",
        """
def f(a, z, b):
    c = np.sum(z)
    if b > 0:
        a, b = b, a
    return np.sum(c * b)
ARGS = (np.array([0.3, 0.4]), np.array([0.5, 0.7]), 0.6)
""",
    ),
    "float parameter becomes an array 2": (
        "right",
        """
def f(x, b, c):
    s = np.sum(x)
    if c > 0:
        b = x
    return np.sum(s * b)
ARGS = (np.array([0.3, 0.4]), 0.7, 0.6)
""",
    ),
    "default becomes an array": (
        "right",
        """
def g(x, b=1.0):
    s = np.sum(x)
    for i in range(1):
        b = x * s
    return np.sum(b)
def f(x, c):
    return g(x) * c
""",
    ),
    "array and float change places": (
        "right",
        """
def f(a, b):
    for i in range(3):
        a, b = b, a * b
    return np.sum(a * b)
ARGS = (np.array([0.3, 0.4]), 0.7)
""",
    ),
    "three change places": (
        "right",
        """
def f(a, b, c):
    for i in range(2):
        a, b, c = b, c, a
    return np.sum(a * c)
ARGS = (np.array([0.3, 0.4]), 0.7, 0.6)
""",
    ),
    "three change places and multiply": (
        "right",
        """
def f(a, b, c):
    for i in range(2):
        a, b, c = b, c, a
        a = a * b
    return np.sum(a * c)
ARGS = (np.array([0.3, 0.4]), 0.7, 0.6)
""",
    ),
    "result of a callee in a container 0": (
        "E5010",
        """
def g(a):
    return a
def f(x, c):
    a = x * c
    l = []
    l.append(g(a))
    a[0] = 7.0
    return np.sum(l[0] * x)
""",
    ),
    "result of a callee in a container 1": (
        "E5010",
        """
def g(a):
    return a
def f(x, c):
    a = x * c
    l = [c]
    l.insert(0, g(a))
    a[0] = 7.0
    return np.sum(l[0] * x)
""",
    ),
    "result of a callee in a container 2": (
        "right",
        """
def g(a):
    return a
def f(x, c):
    a = x * c
    l = [c]
    l[0] = g(a)
    a[0] = 7.0
    return np.sum(l[0] * x)
""",
    ),
    "result of a callee in a container 3": (
        "E5010",
        """
def g(a):
    return a
def f(x, c):
    a = x * c
    l = []
    l.extend([g(a), x])
    a[0] = 7.0
    return np.sum(l[0] * x)
""",
    ),
    "result of a callee in a container 4": (
        "E5010",
        """
def g(a):
    return a
def f(x, c):
    a = x * c
    l = [g(a) for i in range(2)]
    a[0] = 7.0
    return np.sum(l[0] * x)
""",
    ),
    "result of a callee in a container 5": (
        "E5010",
        """
def g(a):
    return a
def f(x, c):
    a = x * c
    l = []
    l.append(g(a))
    l.append(g(a))
    a[0] = 7.0
    return np.sum(l[0] * x)
""",
    ),
    "result of a callee in a container 6": (
        "right",
        """
def g(a):
    return a
def f(x, c):
    a = x * c
    l = {0: c}
    l[0] = g(a)
    a[0] = 7.0
    return np.sum(l[0] * x)
""",
    ),
    "nested function in an index": (
        "right",
        """
def idx(k):
    return 0
def f(x, c):
    def idx(k):
        return k + 1
    a = x * c
    a[idx(0)] = c
    a[idx(1):idx(2)] += c
    return np.sum(a * x)
""",
    ),
    "nested function in assert": (
        "right",
        """
def f(x, c):
    def ok(v):
        return v > 0.0
    assert ok(c)
    return c * x[0]
""",
    ),
    "counter in an index": (
        "right",
        """
def f(x, c):
    n = 0
    def nxt():
        nonlocal n
        n = n + 1
        return n
    a = x * c
    a[nxt()] = c
    a[nxt()] = c * c
    return np.sum(a * x) * n
""",
    ),
    "random index": (
        "right",
        """
def f(x, c):
    rng = np.random.default_rng(0)
    a = x * c
    for i in range(4):
        a[rng.integers(4)] = c * a[rng.integers(4)]
    return np.sum(a * x)
""",
    ),
    "call that writes in an index": (
        "E5010",
        """
def bump(a):
    a[0] += 1.0
    return 1
def f(x, c):
    a = x * c
    a[bump(a)] = c
    return np.sum(a) * a[0]
""",
    ),
    "callee or name": (
        "right",
        """
def g(a):
    return np.sin(a)
def f(x, c):
    s = c
    for i in range(2):
        s = np.sin(s * (g(x[0]) if x[i] > 0.2 else c))
    return s
""",
    ),
    "callee or name in a comprehension": (
        "right",
        """
def g(a):
    return np.sin(a)
def f(x, c):
    return sum([v * (g(v) if v > 0 else c) for v in x])
""",
    ),
    "list of pairs to a callee": (
        "right",
        """
def tot(ps):
    s = 0.0
    for w, b in ps:
        s += np.sum(w) * b
    return s
def f(x, c):
    new = []
    for v in x:
        new.append((x * v, v * c))
    return tot(new)
""",
    ),
    "pairs by place in a callee": (
        "right",
        """
def tot(ps):
    s = 0.0
    i = 0
    while i < len(ps):
        w, b = ps[i]
        s += np.sum(w) * b
        i += 1
    return s
def f(x, c):
    new = [(x * v, v * c) for v in x]
    return tot(new)
""",
    ),
    "callee gives dicts": (
        "right",
        """
def make(x, c):
    return [{"w": v * c, "b": c} for v in x]
def f(x, c):
    s = 0.0
    for d in make(x, c):
        s = s + d["w"] * d["b"]
    return s
""",
    ),
    "callee gives a dict comprehension": (
        "right",
        """
def make(x, ws):
    return {k: w * x for k, w in ws.items()}
def f(x, ws):
    y = make(x, ws)
    return np.sum(y["a"] * y["b"])
ARGS = (np.array([0.3, 0.4]), {"a": 0.5, "b": np.array([0.1, 0.7])})
""",
    ),
    "callee gives its dict": (
        "right",
        """
def same(ws):
    return ws
def f(x, ws):
    y = same(ws)
    return np.sum(y["a"] * x) * y["b"]
ARGS = (np.array([0.3, 0.4]), {"a": np.array([0.5, 0.2]), "b": 0.7})
""",
    ),
    "callee gives a list": (
        "right",
        """
def scaled(ws, x):
    return [w * x for w in ws]
def f(x, ws):
    y = scaled(ws, x)
    s = 0.0
    for w in y:
        s = s + np.sum(w)
    return s * np.sum(y[0])
ARGS = (0.3, [np.array([0.5, 0.2]), np.ones((2, 2))])
""",
    ),
    "step of parameters": (
        "right",
        """
def loss(ps, x):
    h = x
    for w, b in ps:
        h = np.tanh(w @ h + b)
    return np.sum(h * h)
def f(x, ps, lr):
    new = []
    for w, b in ps:
        new.append((w * (1.0 - lr), b - lr * b))
    return loss(new, x)
ARGS = (np.array([0.3, 0.4]), [(np.eye(2), np.array([0.1, 0.2])), (np.ones((1, 2)), np.array([0.3]))], 0.1)
""",
    ),
    "None in a container": (
        "right",
        """
def f(p, c):
    return np.sum(p["w"]) * c if p["b"] is None else c
ARGS = ({"w": np.ones(2), "b": None}, 0.4)
""",
    ),
    "out=None": (
        "E5010",
        """
def put(c, out=None):
    if out is None:
        out = np.zeros(4)
    out[0] = c
    return out
def f(x, c):
    return np.sum(put(c) * x)
""",
    ),
    "tree of tuples": (
        "E5005",
        """
def ev(t):
    if len(t) == 1:
        return t[0]
    return ev(t[0]) * ev(t[1])
def f(t, c):
    return ev(t) * c
ARGS = ((((0.3,), (0.4,)), (0.7,)), 0.6)
""",
    ),
    "a parameter bound anew in a while loop, used before it in a for loop": (
        "right",
        """
def f(x, c):
    a = x * 1.0
    for i in range(2):
        a[i] = np.tanh(c)
    k = 0
    while k < 3:
        k += 1
        c = np.sum(a * x)
        for i in range(3):
            a[i] = c
    if c > 100.0:
        print(c)
    return np.sum(a * a)
""",
    ),
    "a value of a loop that makes no trip, in a pullback": (
        "right",
        """
def f(x, c, n):
    a = x * 1.0
    for i in range(n - 1):
        for k in range(3):
            u = np.tanh(c * 1.1)
            v = x * c
            a[i] *= u
        v[1] *= c
        c = c + np.tanh(u * v[1])
    return a * c
ARGS = (np.array([0.3, 0.4, 0.5, 0.6]), 0.7, 0)
""",
    ),
    "standing: float in an array of int": (
        "right",
        """
def f(x):
    a = np.zeros(3, dtype=int)
    s = 0.0
    for i in range(3):
        t = 3.0 * x[i]
        a[i] = t
        s = s + t * t
    return s
ARGS = (np.array([0.3, -0.5, 0.9]),)
""",
    ),
    "standing: float in an array of bool": (
        "right",
        """
def f(x):
    a = np.zeros(3, dtype=bool)
    s = 0.0
    for i in range(3):
        t = x[i] * x[i]
        a[i] = t
        s = s + t ** 3
    return s
ARGS = (np.array([0.3, -0.5, 0.9]),)
""",
    ),
    "standing: passive float in an array of int": (
        "right",
        """
def f(x):
    a = np.zeros(3, dtype=int)
    s = 0.0
    for i in range(3):
        t = float(i) / 2
        a[i] = t
        s = s + x[i] * x[i] * t
    return s + a[1]
ARGS = (np.array([0.3, -0.5, 0.9]),)
""",
    ),
    "standing: bool in an array of int": (
        "right",
        """
def f(x):
    a = np.zeros(3, dtype=int)
    s = 0.0
    for i in range(3):
        t = x[i] > 0
        a[i] = t
        u = x[i] * x[i]
        s = s + np.where(~t, u, u * u)
    return s
ARGS = (np.array([0.3, -0.5, 0.9]),)
""",
    ),
    "standing: index in an array of float": (
        "right",
        """
def f(x):
    a = np.zeros(3)
    s = 0.0
    for i in range(3):
        t = 2 - i
        a[i] = t
        s = s + x[t] * x[t]
    return s
ARGS = (np.array([0.3, -0.5, 0.9]),)
""",
    ),
    "standing: bound of a loop in an array": (
        "right",
        """
def f(x):
    a = np.zeros(3)
    s = 0.0
    for i in range(3):
        k = i + 1
        a[i] = k
        for j in range(k):
            s = s * x[j] + x[j]
    return s + a[0]
ARGS = (np.array([0.3, -0.5, 0.9]),)
""",
    ),
    "standing: argmax in an array": (
        "right",
        """
def f(x):
    a = np.zeros(3)
    s = 0.0
    for i in range(3):
        t = int(np.argmax(x * i))
        a[i] = t
        s = s + x[t] ** 2
    return s + a[1]
ARGS = (np.array([0.3, -0.5, 0.9]),)
""",
    ),
    "standing: exponent in an array of bool": (
        "right",
        """
def f(x):
    a = np.zeros(3, dtype=bool)
    s = 0.0
    for i in range(3):
        k = i + 2
        a[i] = k
        s = s + x[i] ** k
    return s
ARGS = (np.array([0.3, -0.5, 0.9]),)
""",
    ),
    "standing: mask in an array": (
        "right",
        """
def f(W):
    M = np.zeros_like(W)
    s = 0.0
    for i in range(2):
        t = W[i] > 0
        M[i] = t
        s = s + np.sum(W[i][t] ** 2)
    return s
ARGS = (np.array([[0.3, -0.5], [0.4, 0.2]]),)
""",
    ),
    "a recorded array changes places, then is written into by a pullback": (
        "right",
        """
def f(x, c):
    a = x * 1.0
    a[::-1] *= a * c
    k = 0
    while k < 2:
        k += 1
        b = a * x
        b, a = a, b
    return np.sum(a)
""",
    ),
    "an item of a list that is multiplied in place, read by nothing but its own adjoint": (
        "right",
        """
def f(x, c):
    a = np.sin(x)
    l = [np.sum(a * x), c]
    k = 0
    while k < 3 and a[k] < 2.0:
        k += 1
        for r in x:
            l[-1] *= a[k]
    return l[-1]
""",
    ),
}
