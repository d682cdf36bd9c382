"""The forms of which tests/random/mixed.py makes programs: expressions and statements with holes.

Holes: `{s}` a number, `{a}` an array, `{t}` a test, `{i}` a place in an array, `{k}` an integer, `{own}` an array of
this function alone, `{L}`, `{R}`, `{D}`, `{P}`, `{O}` names of a list of numbers, of arrays, of a dict, a pair, a record,
`{num}` a name of a number, `{new}` a name that is not in use; `{block}` and `{inner}` statements, the second in a loop.
"""

from __future__ import annotations

HEAD = """\
import dataclasses
import math
from typing import NamedTuple

import numpy as np

from tests.programs import other_helpers
from tests.programs import program_helpers
from tests.programs.program_helpers import scaled

RATE = 0.8
WEIGHTS = np.array([0.5, -0.3, 0.8, 1.1])


@dataclasses.dataclass
class Body:
    pos: np.ndarray
    mass: float = 0.7

    def energy(self, k=0.5):
        return k * self.mass * np.sum(self.pos * self.pos)


class Layer(NamedTuple):
    w: np.ndarray
    b: float


def clipped(s, low=-0.9, *, high=0.9):
    if s < low:
        return low + 0.1 * s
    return high if s > high else s * s


def push(values, s, times=1):
    for _ in range(times):
        values.append(s * 0.7)


def relax(u, s, at=0):
    u[at] = s * 0.5
    u[...] *= 0.9
    return np.sum(u)


def both(u, s=0.3):
    return u * s, np.sum(u) * s


def settled(s, steps):
    while steps > 0:
        s = np.cos(s) * RATE
        steps -= 1
        if s < 0.1:
            break
    else:
        s = s + 0.2
    return s


def noise(rng, a):
    return a * rng.normal(size=a.shape) * 0.3


def power(s, n):
    return 1.0 + 0.1 * s if n <= 0 else np.tanh(s) * power(s, n - 1)


"""

NUMBERS = (
    "{num}", "{num}", "{num}", "({s} * {s})", "({s} + {s})", "({s} - 0.3 * {s})", "np.sin({s})", "(np.tanh({s}) * 0.8)",
    "{a}[{i}]", "{a}[{i}]", "np.sum({a} * {a})", "np.mean({a})", "{a}.sum() * 0.2", "({a} @ {a})", "np.max({a})", "(-{s})",
    "({s} if {t} else {s})", "max({s}, 0.123)", "abs({s} + 0.05)", "(({s}) ** 2)", "({s}) / (1.3 + {s} ** 2)", "float({s})",
    "clipped({s})", "clipped({s}, high=0.4)", "settled({s}, {k})", "power({s}, {k})", "scaled({s})", "math.exp(-abs({s}))",
    "other_helpers.scaled({s})", "program_helpers.middle({s}, weight=0.4)", "sum(v * {s} for v in {a})",
    "sum([e * f for e, f in zip({a}, {a})])", "np.sum(np.array([v * v for v in {a} if v > 0.05] + [{s}]))", "((n + 1) * {s})",
    "{P}[1]", "{P}[0][{i}]", "{D}['b']", "{D}['w'][{i}]", "{D}.get('b', 0.3)", "{O}.mass", "{O}.energy()", "{O}.energy(k={s})",
    "np.sum({O}.pos)", "{L}[-1]", "sum({L}) * 0.3", "(len({L}) * {s})", "np.sum({R}[0]) * 0.5", "sum(np.sum(r) for r in {R})",
    "{Y}.b", "np.sum({Y}.w) * {Y}.b", "both({a}, s={s})[1]", "(({new} := {s}) * {new})", "(rng.normal() * {s})", "(RATE * {s})",
    "(rng.uniform(0.5, 1.0) * {s})", "np.sum(noise(rng, {a}))", "np.prod({a} + 1.5) * 0.1",
    "[{s}, {s}][{k} % 2]", "{'u': {s}, 'v': {s}}['u' if {t} else 'v']", "(lambda h: h * {s})({s})", "np.linalg.norm({a} + 2.0)",
)  # fmt: skip

ARRAYS = (
    "{arr}", "{arr}", "{arr}", "({a} * {s})", "({a} + {a})", "({a} * {a})", "np.sin({a})", "np.tanh({a} * {s})", "{a}.copy()",
    "{a}[::-1]", "np.where({a} > {s}, {a}, 0.3 * {a})", "np.array([v * 0.9 for v in {a}])", "noise(rng, {a})", "(-{a})",
    "(rng.normal(size=len(x)) * {a})", "(np.cumsum({a}) * 0.3)", "np.zeros_like({a})", "np.full(len(x), {s})", "{P}[0]", "{D}['w']",
    "{O}.pos", "{R}[-1]", "{R}[0]", "np.roll({a}, 1)", "({a} if {t} else {a} * 0.5)", "both({a})[0]", "scaled({a})",
    "np.concatenate(({a}[1:], {a}[:1]))", "np.array([{s} * v for v in {L}] + [0.0] * 9)[:len(x)]", "np.maximum({a}, {s})",
    "np.sort({a} * 1.1)", "np.stack(({a}, {a}))[{k} % 2]", "np.outer({a}, {a})[0]", "program_helpers.activated({a}, slope={s})[1]",
    "np.array([clipped(v) for v in {a}])", "x", "(WEIGHTS[0] * {a})", "np.array([p * q for p, q in zip({a}, {a})])",
)  # fmt: skip

TESTS = (
    "{s} > 0.31", "{s} < 0.47", "{a}[{i}] > 0.23", "n > 1", "{k} % 2 == 0", "np.sum({a}) > 0.2", "len({L}) > 2", "not {t}",
    "({t} and {t})", "({t} or {t})", "-0.7 < {s} < 0.9", "(n + {k}) % 3 == 1", "np.any({a} > 0.41)", "{num} is not None",
)  # fmt: skip

# What one line binds: the kind of the new name is in its mark
STATEMENTS = (
    "{new:s} = {s}", "{new:s} = {s}", "{loc} = np.tanh({s})", "{loc} += 0.3 * {s}", "{loc} *= 0.4 + 0.2 * {s}",
    "{new:o} = {a} * 1.0", "{new:o} = {a} * {s}", "{new:a} = {a}", "{new:o} = np.sin({a})", "{new:o} = {a}.copy()",
    "{new:a} = {a}", "{new:s}, {new:s} = {s}, {s}", "{new:a}, {new:s} = both({a})", "{new:o}, {loc} = both({a}, {s})",
    "{own}[{i}] = {s}", "{own}[{i}] += {s}", "{own}[{i}] *= {s}", "{own}[1:] = {own}[:-1] * {s}", "{own}[::2] *= {s}",
    "{own}[:] = {a}", "{own} += {a}", "{own} *= {s}", "{own}[{i}], {own}[{i}] = {own}[{i}], {s}", "{own}[{a} > 0.1] = {s}",
    "{new:v} = {own}[::-1]\n{last}[0] = {s}", "{new:a} = {own}[1:]\n{own}[-1] *= {s}\n{loc} += 0.2 * np.sum({last})",
    "{new:s} = relax({own}, {s})", "relax({own}, {s}, at=-1)", "{new:v} = {own}[::-1]\nrelax({last}, {s})",
    "{new:L} = [{s}, {s}]", "{new:L} = [v * {s} for v in {a}] + [{s}]", "{L}.append({s})", "{L}[0] = {s}", "{L}[-1] *= {s}",
    "push({L}, {s})", "push({L}, {s}, times=2)", "{L} = [v * 0.8 for v in {L}]", "if len({L}) > 2:\n    {loc} += {L}.pop()",
    "{L}.extend([{s}, {s}])", "{new:s}, *{new:L} = [{s}, {s}, {s}]", "*{new:L}, {new:s} = ({s}, {s}, {s})", "{L}.insert(0, {s})",
    "{new:R} = [{a} * 1.0, {a} * {s}]", "{R}.append({a} * {s})", "{R}[0] = {a} * 0.5", "{R} = [np.tanh(r) for r in {R}]",
    "{new:D} = {'w': {a} * 1.0, 'b': {s}}", "{D}['b'] = {s}", "{D}['b'] += {s}", "{D}['w'] = {D}['w'] * {s}",
    "{D}.update(b={s})", "for key in {D}:\n    {loc} += 0.1 * np.sum({D}[key])",
    "for key, item in {D}.items():\n    {loc} += 0.1 * np.sum(item) * {s}", "{D} = {key: item * 0.9 for key, item in {D}.items()}",
    "{new:P} = ({a}, {s})", "{P} = ({P}[0] * {s}, {P}[1] + {s})", "{new:a}, {new:s} = {P}", "{P} = both({a}, {s})",
    "{new:O} = Body({a} * 1.0, {s})", "{O}.mass = {s}", "{O}.mass += 0.2 * {s}", "{O}.pos = {O}.pos * {s}",
    "{O} = dataclasses.replace({O}, mass={s})", "{O}.mass *= {O}.energy()",
    "{new:Y} = Layer({a}, {s})", "x = x * {s}", "y = y + {s}", "x = np.sin(x)",
    "{new:s} = {s} if {t} else {s}", "assert n >= 0", "_ = rng.normal()", "with np.errstate(all='ignore'):\n    {loc} = {s}",
    "if ({new:s} := {s}) > 0.3:\n    {loc} = {last} * {s}", "{new:o} = np.zeros(len(x))\nfor {it:k} in range(len(x)):\n    {lastbut}[{last}] = x[{last}] * {s}",
    "def {new:f}(t, u=0.4):\n    return np.sin(t) * u + {s}\n{loc} = {fun}({s}, u={s})",
    "def {new:f}(t):\n    if t > 0.2:\n        return t * {s}\n    t = t * t\n    return t + {s}\n{loc} = {fun}({s}) + 0.1 * {fun}({s})",
    "{new:f} = lambda t: t * {s}\n{loc} = {fun}({s})", "{loc} = {s};{new:s} = {s}",
    "{new:s} = {num}\n{loc} = {s} + 0.1 * {last}", "np.multiply({a}, {s}, out={own})", "{own}.fill({s})", "np.copyto({own}, {a})",
    "np.add.at({own}, [0, 0, -1], {s})", "del {gone}", "{own}.sort()",
)  # fmt: skip

NESTED = (
    "if {t}:\n{block}", "if {t}:\n{block}\nelse:\n{block}", "if {t}:\n{block}\nelif {t}:\n{block}\nelse:\n{block}",
    "for {it:k} in range({n}):\n{inner}", "for {it:k} in range({n}):\n{inner}", "for {it:s} in {a}:\n{inner}",
    "for {it:k}, {it:s} in enumerate({a}):\n{inner}", "for {it:s}, {it:s} in zip({a}, {a}):\n{inner}",
    "for {it:k}, ({it:s}, {it:s}) in enumerate(zip({a}, {L})):\n{inner}", "for {it:a} in {R}:\n{inner}",
    "for {it:s} in {L}:\n{inner}", "for {it:a}, {it:s} in [({a}, {s}), ({a}, {s})]:\n{inner}", "for {it:s} in reversed({L}):\n{inner}",
    "for {it:k} in (2, 0, 1):\n{inner}", "{it:k} = 0\nwhile {last} < {n}:\n    {last} += 1\n{inner}",
    "{it:k} = {n}\nwhile {last} > 0 and {s} < 5.0:\n    {last} -= 1\n{inner}", "for {it:k} in range({n} + 1):\n{inner}\nelse:\n{block}",
    "{it:k} = 0\nwhile True:\n    {last} += 1\n    if {last} > {n}:\n        break\n{inner}", "for {it:k} in reversed(range({n})):\n{inner}",
)  # fmt: skip

LEAVING = ("if {t}:\n{block}\n    {way}", "if {t}:\n    {way}")
