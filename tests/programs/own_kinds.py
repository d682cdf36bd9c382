"""Programs in which names mislead: methods and functions of one's own named like an array's, modules as values, lists
beside arrays. Each is `f(x, ...)`, with ARGS where it takes more than `x`."""

from __future__ import annotations

METHODS = [
    "all", "any", "argmax", "argmin", "argsort", "astype", "choose", "clip", "compress", "conj", "copy",
    "cumprod", "cumsum", "diagonal", "dot", "flatten", "get", "item", "max", "mean", "min", "nonzero", "prod",
    "ravel", "repeat", "reshape", "round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take",
    "trace", "transpose", "var", "append", "fill", "sort", "insert", "pop", "index", "count", "extend",
    "update", "keys", "items", "values", "view", "tolist", "resize", "put", "partition", "T",
]  # fmt: skip

OWNERS = """
import numpy as np
class Part:
    k = 2.0
    def {name}(self, x):
        return self.k * np.sum(x**3)
    def loss(self, x):
        return self.{name}(x) + x[0]
class Whole:
    def __init__(self):
        self.part = Part()
        self.parts = [Part(), Part()]
    def by_attribute(self, x):
        return self.part.{name}(x) + x[0]
    def by_second_name(self, x):
        p = self.part
        return p.{name}(x) + x[0]
    def in_loop(self, x):
        t = x[0]
        for p in self.parts:
            t = t + p.{name}(x)
        return t
    def by_item(self, x):
        return self.parts[0].{name}(x) + self.parts[-1].{name}(x * 2.0)
part, whole = Part(), Whole()
def of_global(x):
    return part.{name}(x) * x[0]
def of_global_part(x):
    return whole.part.{name}(x) * x[0]
def helper(m, x):
    return m.{name}(x)
def through_helper(x):
    return helper(part, x) * x[0]
def of_argument(x, m=part):
    return m.{name}(x) * x[0]
def of_dict(x, table={{"m": part}}):
    return table["m"].{name}(x) * x[0]
PROGRAMS = [part.loss, whole.by_attribute, whole.by_second_name, whole.in_loop, whole.by_item, of_global,
            of_global_part, through_helper, of_argument, of_dict]
"""

LISTS = {
    "x + display": "return np.sum((x + [1.0, x[0]]) ** 2)",
    "display + x": "return np.sum(([1.0, x[0]] + x) ** 2)",
    "tuple - x": "return np.sum(((1.0, x[1]) - x) ** 2)",
    "x * named list": "a = [x[0], 2.0]\n    return np.sum((x * a) ** 2)",
    "global list": "return np.sum((x * W + W) ** 2)",
    "x @ list": "return (x @ [1.0, x[0]]) ** 2",
    "x ** list": "return np.sum(x ** [1.0, 2.0])",
    "comprehension": "return np.sum((x + [t * t for t in x]) ** 2)",
    "helper gives a list": "return np.sum((x + pair(x[0])) ** 2)",
    "helper adds a list": "return np.sum(shifted(x) ** 2)",
    "augmented": "y = x * 2.0\n    y += [x[0], 2.0]\n    y *= (2.0, x[1])\n    return np.sum(y ** 2)",
    "augmented in a loop": "y = np.zeros(2)\n    for i in range(2):\n        y += [x[0], i * x[1]]\n    return y @ y",
    "a row": "y = np.ones((2, 2)) * 2.0\n    y[0] += [x[0], 2.0]\n    return np.sum(y ** 2) * x[1]",
    "appended": "out = []\n    for t in x:\n        out.append(t * t)\n    return np.sum((x + out) ** 2)",
    "nested function": "def g(t):\n        return t + [1.0, x[1]]\n    return np.sum(g(x) ** 2)",
    "a number of NumPy": "return np.sum((np.sum(x) + [1.0, 2.0]) ** 2)",
    "lists are joined": "a = [x[0]] + [x[1]]\n    return np.sum(x * a)",
    "nested lists": "return np.sum((np.outer(x, x) + [[1.0, x[0]], [3.0, 4.0]]) ** 2)",
    "inner": "p = [x[0], 2.0 * x[1]]\n    return np.inner(p, p) + np.dot(p, x)",
    "elementwise": "p = [x[0], x[0] * x[1]]\n    return np.sum(np.square(p) + np.maximum(p, 0.1) * np.exp(p))",
    "interp": "p = [x[0], 2.0 * x[1]]\n    return np.interp(0.5, [0.0, 1.0], p)",
    "norm": "p = [x[0], 2.0 * x[1]]\n    return np.linalg.norm(p)",
    "clip": "p = [x[0], 2.0 * x[1]]\n    return np.sum(np.clip(p, 0.0, 1.0) * x)",
    "matmul": "m = [[x[0], 1.0], [2.0, x[1]]]\n    return np.sum(np.matmul(m, x))",
}

MODULES = {
    "second name": "xp = np\n    return xp.sum(x * x) + xp.linalg.norm(x)",
    "part of NumPy": "m = np.linalg\n    return m.norm(x) * m.det(np.outer(x, x) + np.eye(2))",
    "import inside": "import numpy as q\n    return q.sum(x * x)",
    "of an object": "return box.xp.sum(x * x) * box.la.norm(x)",
    "of a dict": "return MODS['np'].sum(x * x)",
    "of a list": "t = 0.0\n    for m in [np, np]:\n        t = t + m.sum(x**2)\n    return t",
    "in branches": "if x[0] > 0.0:\n        xp = np\n    else:\n        xp = np\n    return xp.sum(x * x)",
    "through a helper": "return total(np, x)",
    "in a nested function": "xp = np\n    def g(t):\n        return xp.sum(t**3)\n    return g(x)",
    "a function by another's name": "gain = np.sin\n    y = gain(x[0])\n    return y",
    "sum is prod": "sum = np.prod\n    return sum(x) * x[0]",
    "bound twice": "h = np.sum\n    h = np.prod\n    return h(x)",
    "function of a dict": "table = {'s': np.sin}\n    return np.sum(table['s'](x))",
    "own functions": "return mean(x) + np.sum(dot(x, x)) + np.sum(where(x, x, x))",
    "a number's attributes": "s = np.sum(x)\n    return np.transpose(s).T * s.sum() * s.real",
}

SPACE = """
import numpy as np
W = [1.5, 2.5]
MODS = {"np": np}
class Box:
    def __init__(self):
        self.xp, self.la = np, np.linalg
box = Box()
def gain(t):
    return t * t * 0.5
def pair(a):
    return [a, a * a]
def shifted(a):
    return a + [1.0, 2.0]
def total(xp, x):
    return xp.sum(x**3)
def mean(x):
    return 2.0 * np.sum(x**3)
def dot(a, b):
    return a * b * b
def where(a, b, c):
    return a * b * c
"""
