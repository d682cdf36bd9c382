"""Containers that change under several names: what may be silently wrong stands here, each against differences."""

# ruff: noqa: E501

from __future__ import annotations

from tests.random.judge import judged

HEAD = """
import numpy as np
from collections import OrderedDict, defaultdict, deque
class Box:
    def __init__(self, v=0.0):
        self.v, self.l, self.d = v, [], {}
    def add(self, v):
        self.l.append(v)
        return self
    def swap(self, o):
        self.l, o.l = o.l, self.l
def scale(l, k):
    for i in range(len(l)):
        l[i] = l[i] * k
def even(l, n):
    l.append(n * 1.0)
"""
RIGHT = {
    "second name": "b = Box()\n    c = b.l\n    c.append(x[0])\n    b.add(x[1])\n    c[0] *= 3\n    return b.l[0] * b.l[-1]",
    "one row twice": "rows = [[0.0] * 2] * 2\n    rows[0][1] = x[0]\n    return rows[1][1] ** 2 + rows[1][0]",
    "exchanged": "a = Box()\n    b = Box()\n    a.add(x[0])\n    b.add(x[1])\n    a.swap(b)\n    a.add(1.0)\n    return a.l[0] * 3 + b.l[0] ** 2 + a.l[1]",
    "callee": "b = Box()\n    b.add(x[0]).add(x[1])\n    l = b.l\n    scale(l, x[2])\n    return sum(b.l) * b.l[0]",
    "order": "b = Box()\n    b.l = list(x)\n    l = b.l\n    return l.pop() - 2 * l.pop(0) + l[0] * l.pop() ** 2 + len(l)",
    "order of a write": "b = Box()\n    b.l = list(x)\n    b.d[len(b.l)] = b.l.pop()\n    return b.d[len(x) - 1] * sum(b.l)",
    "ahead": "b = Box()\n    b.l = list(x)\n    s = 0.0\n    for i, v in enumerate(b.l):\n        s += v**2\n        if i < 2:\n            b.l[i + 1] += v * x[3]\n    return s",
    "two at once": "b = Box()\n    b.l = list(x)\n    l = b.l\n    l[0], l[1] = l[1], l[0] ** 2\n    return b.l[0] + 2 * b.l[1]",
    "matrix": "m = [[x[i] * x[j] for j in range(3)] for i in range(3)]\n    r = m[1]\n    m[1][1] += 1.0\n    r[0] = x[3]\n    return np.sum(np.array(m) @ np.arange(3.0))",
    "deque": "q = deque([1.0, 2.0], maxlen=3)\n    r = q\n    for v in x:\n        q.append(v)\n        q.appendleft(v * 2)\n    r.rotate(2)\n    r[0] *= 3\n    return q[0] + 2 * q[1] + 3 * q[2] ** 2",
    "default": "d = defaultdict(list)\n    for i, v in enumerate(x):\n        d[i % 3].append(v)\n    s = 0.0\n    for k, r in d.items():\n        s += (k + 1) * sum(r) ** 2\n    return s + len(d[9]) + len(d)",
    "state": "s = {'m': [0.0] * 4, 't': 0}\n    for k in range(2):\n        s['t'] += 1\n        for i in range(4):\n            s['m'][i] = 0.9 * s['m'][i] + x[i] * s['t']\n    return sum(m**2 for m in s['m'])",
    "iterator": "it = iter(x)\n    s = next(it)\n    for v in it:\n        s += v * next(it, 3.0) ** 2\n    return s + next(it, x[0])",
    "set": "seen, s = set(), 0.0\n    for i in [0, 1, 1, 2, 0]:\n        if i in seen:\n            continue\n        seen.add(i)\n        s += x[i] ** 2 * len(seen)\n    return s",
}  # fmt: skip
REFUSED = {
    "a view": "d = {'a': x[0]}\n    e = {'d': d}\n    v = d.values()\n    e['d']['b'] = x[1]\n    return sum(v) ** 2",
    "a map": "b = Box()\n    b.l.append(x[0])\n    l = b.l\n    m = map(lambda v: v**2, l)\n    b.l[0] = x[1]\n    return sum(m)",
    "are all": "d = [[x[0]], []]\n    e = d[1]\n    d[0].append(x[1])\n    return sum(d[0]) if all(d) else sum(d[0]) ** 2 + len(e)",
    "in others": "d = [[1.0], [2.0]]\n    d[0][0] = 2.0\n    return x[0] ** 2 if [2.0] in d else x[0]",
    "repeated": "d = {'l': [x[0]]}\n    e = d['l']\n    e *= 2\n    return sum(d['l']) ** 2",
    "grows where it is gone over": "b = Box()\n    b.add(x[0])\n    for v in b.l:\n        if len(b.l) < 4:\n            b.l.append(v * x[1])\n    return sum(b.l)",
    "an iterator over what changes": "a = x * 1.0\n    b = a[:]\n    it = iter(a)\n    u = next(it)\n    b[1] = 7.0 * u\n    return u * next(it)",
    "an array in place": "b = Box()\n    y = x * 2\n    b.l.append(y)\n    b.l[0] += 1.0\n    return np.sum(y**2)",
}  # fmt: skip


def test_containers_under_several_names() -> None:
    wrong = []
    for case, body in {**RIGHT, **REFUSED}.items():
        found = judged(
            f"{HEAD}\ndef f(x):\n    {body}\ndef arguments(): return (np.array([0.5, -0.3, 1.2, 0.8]),)\n", 1
        )
        if (found.verdict == "right") != (case in RIGHT) or found.verdict not in ("right", "refused"):
            wrong.append((case, found))
    assert wrong == []
