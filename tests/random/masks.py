"""Programs drawn at random of what selects and what is singular: roots, norms and logarithms behind conditions.

`python -m tests.random.masks FIRST COUNT [ORDER]` draws that many. At order 2 products with the Hessian are
held to differences of the gradient. Names are bound anew in branches and loops, and helpers leave
early, so that a mask is that of another branch or trip where it is kept by a name alone. Masked factors must be what they
are unmasked. A gradient may warn where the function does not: at the root of a 0 that is truly taken, as of a clamped
value that is clamped once more.
"""

from __future__ import annotations

import collections
import linecache
import random
import sys
import warnings
from dataclasses import dataclass, field
from typing import Any  # arguments and results of arbitrary functions

import numpy as np

import srcgrad
from srcgrad.core.errors import DifferentiationError
from tests.random.judge import amiss

ARRAYS, NUMBERS = ("a", "b", "x", "y"), ("s", "t")
OF_ARRAYS = (
    "np.sqrt(np.abs({a}) + 0.0 * {n})", "np.where({c}, {a}, {a})", "np.clip({a}, -0.6, {n})", "np.maximum({a}, 0.0)",
    "np.maximum({a}, {n})", "np.maximum({a}, {a})", "np.hypot({a}, {a})", "({a}) * ({a})", "({a}) + ({a})",
    "({a}) / (0.4 + ({a}) ** 2)", "np.log(np.abs({a}) + 0.3)", "np.sqrt(np.maximum({a}, 0.0))",
    "np.where({c}, np.sqrt(np.abs({a})), 0.0)", "np.where({c}, 1.0 / (2.0 + np.abs({a})), {n})", "np.minimum({a}, {a})",
    "np.tanh({a})", "np.abs({a}) ** 1.5", "np.triu(np.outer({a}, {a})) @ {a}", "np.select([{c}, {c}], [{a}, {a}], {n})",
)  # fmt: skip
OF_NUMBERS = (
    "np.sum({a})", "np.linalg.norm({a})", "({a})[-1]", "({a})[1]", "max({n}, 0.1)", "np.sqrt(0.2 + ({n}) ** 2)",
    "({n}) * 0.7", "np.max({a})", "np.tanh({n})", "np.mean({a})",
)  # fmt: skip
CONDITIONS = ("{a} > 0.1", "{a} > {n}", "({a} < 0.4) & ({a} > -0.5)")
TESTS = ("s > 0.15", "t < 0.3", "k == 1", "k % 2 == 0", "np.sum(a) > 0.3", "x[0] > 0.1", "n > 2")
HELPERS = (
    "return np.where(u > 0.2, np.sqrt(np.abs(u)), q)",
    "if q > 0.2:\n        u = np.clip(u, -0.5, 0.7)\n    return np.hypot(u, 0.4 + q)",
    "r = np.sqrt(np.maximum(u, 0.0))\n    return r * q + u",
)
REDUCING = (
    "return np.sqrt(np.sum(np.where(u > 0.1, u * u, 0.0)) + 0.1)",
    "m = np.maximum(u, 0.05)\n    return np.sum(np.log(m)) + np.prod(m)",
    "for i in range(3):\n        if u[i] > 0.3:\n            return np.sqrt(u[i])\n    return np.sum(u)",
)
RESULTS = (
    "np.sum(a * b) + s", "np.sum(np.sqrt(a * a + b * b + 0.01)) + t", "np.linalg.norm(a - b + x) + np.sum(y) * s",
    "np.sum(np.hypot(a, b)) + t * s",
)  # fmt: skip


@dataclass
class Writer:
    """A program that is being written."""

    pick: random.Random
    lines: list[str] = field(default_factory=list)

    def filled(self, form: str, depth: int) -> str:
        """A form, each hole filled by itself."""
        made = form
        for hole, draw in (("{a}", self.array), ("{n}", self.number), ("{c}", self.condition)):
            while hole in made:
                made = made.replace(hole, draw(depth + 1), 1)
        return made

    def array(self, depth: int = 0) -> str:
        """An expression of an array."""
        if depth > 2 or self.pick.random() < 0.25:
            return self.pick.choice(ARRAYS)
        return self.filled(self.pick.choice(OF_ARRAYS), depth)

    def number(self, depth: int = 0) -> str:
        """An expression of a number."""
        if depth > 2 or self.pick.random() < 0.4:
            return self.pick.choice((*NUMBERS, "0.0"))
        return self.filled(self.pick.choice(OF_NUMBERS), depth)

    def condition(self, depth: int = 0) -> str:
        """A mask."""
        return self.filled(self.pick.choice(CONDITIONS), depth)

    def put(self, indent: int, line: str) -> None:
        """A line."""
        self.lines.append("    " * indent + line)

    def block(self, indent: int, looped: bool) -> None:
        """Some statements."""
        for _ in range(self.pick.randint(1, 3)):
            self.statement(indent, looped)

    def statement(self, indent: int, looped: bool = False) -> None:
        """A statement; blocks hold no more than one further."""
        kind, draw = self.pick.random(), self.pick.choice
        if kind < 0.18 and indent < 3:
            self.put(indent, f"if {draw(TESTS)}:")
            self.block(indent + 1, looped)
            if draw((True, False)):
                self.put(indent, "else:")
                self.block(indent + 1, looped)
        elif kind < 0.3 and indent < 3:
            self.put(indent, f"for k in range({draw(('2', '3', 'n'))}):")
            self.block(indent + 1, True)
        elif kind < 0.34 and looped:
            self.put(indent, f"if {draw(TESTS)}:")
            self.put(indent + 1, draw(("continue", "break")))
        elif kind < 0.42:
            self.put(indent, "w = np.zeros(3)")
            self.put(indent, f"w[{draw(('0', '1:', 'a > 0.1', ':2'))}] = {self.number(1)}")
            self.put(indent, f"{draw(ARRAYS)} = w * {self.array(2)}")
        elif kind < 0.5:
            self.put(indent, f"{draw('ab')}, {draw(NUMBERS)} = {self.array(1)}, {self.number(1)}")
        elif kind < 0.75:
            self.put(indent, f"{draw(ARRAYS)} = {self.array()}")
        elif kind < 0.82:
            self.put(indent, f"{draw(ARRAYS)} = h({self.array(1)}, {self.number(1)})")
        elif kind < 0.9:
            self.put(indent, f"{draw(NUMBERS)} = {draw((self.number(), f'g({self.array(1)})'))}")
        else:
            self.put(indent, f"{draw(ARRAYS)} = {draw(ARRAYS)} {draw('+-*')} {self.array(1)}")


def program(seed: int) -> str:
    """The text of a program, which defines f(x, y, s, n)."""
    writer = Writer(random.Random(seed))
    helpers = (
        f"def h(u, q):\n    {writer.pick.choice(HELPERS)}\n\n\ndef g(u):\n    {writer.pick.choice(REDUCING)}\n\n\n"
    )
    for _ in range(writer.pick.randint(2, 6)):
        writer.statement(1)
    begun = "def f(x, y, s, n):\n    a = x * 1.3\n    b = y - 0.2\n    t = 0.3 + s * s\n    k = 0\n"
    return f"{helpers}{begun}" + "\n".join(writer.lines) + f"\n    return {writer.pick.choice(RESULTS)}\n"


def outcome(seed: int, order: int = 1) -> str:
    """`right`, `refused CODE`, `skipped` (the program warns, or is not smooth), `warns: which`, or `wrong: why`."""
    text, name = program(seed), f"<random masks {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), space)
    numbers = np.random.default_rng(seed)
    args = (numbers.normal(size=3), numbers.normal(size=3), float(numbers.normal()), int(numbers.integers(1, 4)))
    way = numbers.normal(size=3), numbers.normal(size=3), float(numbers.normal())
    try:
        return _compared(space["f"], args, way) if order == 1 else _compared_twice(space["f"], args, way[0])
    except DifferentiationError as error:
        why = amiss(error, text)
        return f"wrong: {why}: {error}" if why else f"refused {error.code}"
    except FloatingPointError as error:
        return f"warns: {error}"
    except Exception as error:
        return f"wrong: {type(error).__name__} {error}"
    finally:
        linecache.cache.pop(name, None)


def _compared(f: Any, args: tuple[Any, ...], way: tuple[Any, ...]) -> str:
    """Both modes against differences, and against each other."""
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        try:
            value = f(*args)
            steps = [_slope(f, args, way, step) for step in (1e-6, 1e-5)]
        except (FloatingPointError, UnboundLocalError):
            return "skipped"
        if abs(steps[0] - steps[1]) > 1e-4 * (1.0 + abs(steps[0])) or abs(value) > 1e6:
            return "skipped"
        found, gradient = srcgrad.value_and_grad(f, (0, 1, 2))(*args)
        _, tangent = srcgrad.jvp(f, args, (*way, 0))
    along = sum(float(np.sum(part * one)) for part, one in zip(gradient, way, strict=True))
    if not np.isclose(found, value, rtol=1e-10):
        return f"wrong: value {found}, plain call {value}"
    if abs(along - steps[0]) > 1e-3 * (1.0 + abs(steps[0])):
        return f"wrong: reverse {along}, differences {steps[0]}"
    return (
        "right" if abs(tangent - along) <= 1e-9 * (1.0 + abs(along)) else f"wrong: forward {tangent}, reverse {along}"
    )


def _compared_twice(f: Any, args: tuple[Any, ...], way: Any) -> str:
    """Products with the Hessian against differences of the gradient."""
    x, *others = args
    gradient = srcgrad.grad(f)
    with np.errstate(all="ignore"):
        try:
            sides = [
                (gradient(x + h * way, *others) - gradient(x - h * way, *others)) / (2.0 * h) for h in (1e-6, 1e-5)
            ]
        except UnboundLocalError:
            return "skipped"
        scale = 1.0 + np.max(np.abs(sides[0]))
        if not np.max(np.abs(sides[0] - sides[1])) <= 1e-4 * scale <= 1e2:  # nor are they nan
            return "skipped"
        found = srcgrad.hvp(f)(x, *others, way)
    if not np.max(np.abs(found - sides[0])) <= 1e-3 * scale:
        return f"wrong: second {found}, differences {sides[0]}"
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        try:
            f(*args)
        except FloatingPointError:
            return "right"
        srcgrad.hvp(f)(x, *others, way)
    return "right"


def _slope(f: Any, args: tuple[Any, ...], way: tuple[Any, ...], step: float) -> float:
    ends = [
        float(f(*[one + side * step * part for one, part in zip(args, way, strict=False)], args[3])) for side in (1, -1)
    ]
    return (ends[0] - ends[1]) / (2.0 * step)


def main(first: int, count: int, order: int = 1) -> int:
    """Draw programs, print what is wrong, and the counts; the number that are wrong."""
    counts: collections.Counter[str] = collections.Counter()
    for seed in range(first, first + count):
        found = outcome(seed, order)
        counts[found.split(":")[0]] += 1
        if found.startswith("wrong"):
            print(f"program {seed}: {found[:300]}".replace("\n", " | "), flush=True)
    print(dict(counts))
    return counts["wrong"]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(min(main(*map(int, sys.argv[1:])), 1))
