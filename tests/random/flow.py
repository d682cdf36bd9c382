"""Programs drawn at random, of loops and branches that are left in all ways: `break`, `continue`, `return`, `else`.

`python -m tests.random.flow FIRST COUNT` compares both modes with differences, and prints what disagrees.
"""

from __future__ import annotations

import linecache
import random
import sys
from collections.abc import Callable
from typing import Any  # functions of arbitrary signatures

import numpy as np

import srcgrad
from srcgrad.core.errors import DifferentiationError
from tests.random.judge import Late, amiss, limited

X = np.array([0.3, -0.7, 1.2, 0.5])


class Flow:
    """A program of one parameter, `x`, of four elements, that comes to an end."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.lines: list[str] = []
        self.counters = 0
        self.items: list[str] = []  # integers of the loops around
        self.tuples = self.draw.random() < 0.3  # returns two numbers
        self.function = self.draw.random() < 0.25

    def text(self) -> str:
        """The whole program."""
        self.lines = ["def f(x):", "    s, t, u = 1.0, x[0], 0.5"]
        if self.function:
            self.lines += ["    def g(v, k):"]
            self.counters, self.items = 0, ["k"]
            self.block(2, 2, loop=False, inner=True)
            self.lines += ["        return v * x[k % 4]"]
            self.items = []
        self.block(1, 3, loop=False)
        self.lines.append(f"    return {self.result()}")
        return "\n".join(self.lines) + "\n"

    def result(self) -> str:
        """What a return gives."""
        return "s * t, u + s" if self.tuples else "s * t + u"

    def number(self) -> str:
        """A small expression."""
        place = self.draw.choice(self.items) + " % 4" if self.items and self.draw.random() < 0.6 else "1"
        chosen = ["s", "t", "u", f"x[{place}]", "0.5 * t", "np.sin(s)", "x[2] * u", "x[3]"]
        if self.function and self.items:
            chosen.append(f"g(x[1], {self.draw.choice(self.items)})")
        return self.draw.choice(chosen)

    def test(self) -> str:
        """A condition."""
        on = self.draw.choice(self.items) if self.items else ""
        chosen = ["s > 0.9", "t < 0.4", "x[1] < 0.0", "s * t > 1.1", "not u > s"]
        if on:
            chosen += [f"{on} % 2 == 0", f"{on} > 1", f"{on} == 2", f"x[{on} % 4] > 0.4", f"{on} == 1 or s > 1.5"]
        return self.draw.choice(chosen)

    def assignment(self, indent: int, inner: bool) -> None:
        """One statement that computes."""
        if inner:
            self.put(indent, self.draw.choice(["v = v * 0.9 + x[0]", "v *= x[k % 4]", "v = np.sin(v) + x[2]"]))
            return
        made = self.draw.choice(["s", "t", "u"])
        how = self.draw.choice([f"{made} = 0.5 * {self.number()} + {self.number()}", f"{made} += {self.number()}"])
        how = how if self.draw.random() < 0.7 else f"{made} *= 0.3 + 0.2 * {self.number()}"
        self.put(indent, how)

    def put(self, indent: int, line: str) -> None:
        """A line."""
        self.lines.append("    " * indent + line)

    def block(self, indent: int, depth: int, loop: bool, inner: bool = False) -> None:
        """Some statements, of which the last may leave."""
        for _ in range(self.draw.randint(1, 3)):
            kind = self.draw.random()
            if depth and kind < 0.3:
                self.branch(indent, depth - 1, loop, inner)
            elif depth and kind < 0.6:
                self.loop(indent, depth - 1, inner)
            else:
                self.assignment(indent, inner)
        if indent > 1 + inner and self.draw.random() < 0.35:
            ways = ["return v * 0.5" if inner else f"return {self.result()}"] + ["break", "continue"] * 2 * loop
            self.put(indent, self.draw.choice(ways))

    def branch(self, indent: int, depth: int, loop: bool, inner: bool) -> None:
        """An `if`, with or without others."""
        self.put(indent, f"if {'v > 0.5' if inner else self.test()}:")
        self.block(indent + 1, depth, loop, inner)
        if self.draw.random() < 0.3:
            self.put(indent, f"elif {'k > 1' if inner else self.test()}:")
            self.block(indent + 1, depth, loop, inner)
        if self.draw.random() < 0.5:
            self.put(indent, "else:")
            self.block(indent + 1, depth, loop, inner)

    def loop(self, indent: int, depth: int, inner: bool) -> None:
        """A `for` or a `while`, perhaps with an `else`."""
        self.counters += 1
        item = f"{'p' if inner else 'i'}{self.counters}"
        kind = self.draw.random()
        if kind < 0.5:
            over = self.draw.choice(["range(3)", "range(1, 4)", "reversed(range(3))", "range(0, 4, 2)", "(0, 2, 3)"])
            self.put(indent, f"for {item} in {over}:")
        elif kind < 0.7:
            self.put(indent, f"{item} = 0")
            self.put(indent, f"while {item} < 3 and {'v < 9.0' if inner else self.test()}:")
            self.put(indent + 1, f"{item} += 1")
        elif kind < 0.85:
            self.put(indent, f"{item} = 0")
            self.put(indent, f"while ({item} := {item} + 1) < 4:")
        else:
            self.put(indent, f"{item} = 0")
            self.put(indent, "while True:")
            self.put(indent + 1, f"{item} += 1")
            self.put(indent + 1, f"if {item} > 3:")
            self.put(indent + 2, self.draw.choice(["break", "return v" if inner else f"return {self.result()}"]))
        self.items.append(item)
        self.block(indent + 1, depth, True, inner)
        if self.draw.random() < 0.35:
            self.put(indent, "else:")
            around = len(self.items) > 1 and indent > 1 + inner and self.depths(indent)
            self.block(indent + 1, depth, around, inner)
        self.items.pop()

    def depths(self, indent: int) -> bool:
        """Whether a loop is around this place, in the same function."""
        least = indent
        for line in reversed(self.lines):
            deep = (len(line) - len(line.lstrip())) // 4
            if deep < least:
                least = deep
                if line.split()[0] in ("for", "while"):
                    return True
        return False


def define(text: str, title: str) -> Callable[..., Any]:
    """The function of a program."""
    file = f"<flow {title}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec"), names)
    return names["f"]


def value(f: Callable[..., Any], x: np.ndarray) -> float:
    """The result, or the sum of the results."""
    return float(np.sum(f(x)))


def differences(f: Callable[..., Any], x: np.ndarray, step: float) -> np.ndarray:
    """Central differences."""
    rows = np.eye(x.size) * step
    return np.array([(value(f, x + row) - value(f, x - row)) / (2.0 * step) for row in rows])


def verdict(seed: int) -> str:
    """`right`, a code, `drawn again` where nothing can be compared, or what is wrong."""
    text = Flow(seed).text()
    f = define(text, str(seed))
    try:
        with limited(2.0):
            expected = differences(f, X, 1e-6)
            coarse = differences(f, X, 1e-5)
    except (ArithmeticError, UnboundLocalError, ValueError, Late):  # some loops never end
        return "drawn again"
    if not np.all(np.isfinite(expected)) or not np.allclose(expected, coarse, rtol=1e-5, atol=1e-6):
        return "drawn again"
    if np.max(np.abs(expected)) > 1e4:
        return "drawn again"
    try:
        count = len(f(X)) if isinstance(f(X), tuple) else 0
        _, pullback = srcgrad.vjp(f, X)
        backward = pullback((1.0, 1.0) if count else 1.0)[0]
        forward = np.sum(srcgrad.jvp(f, (X,), (np.array([1.0, 2.0, -1.0, 0.5]),))[1])
    except DifferentiationError as error:
        return f"WRONG, {why}: {error.message}" if (why := amiss(error, text)) else error.code
    if not np.allclose(backward, expected, rtol=1e-5, atol=1e-6):
        return f"WRONG, reverse: {backward} for {expected}"
    if not np.allclose(forward, expected @ [1.0, 2.0, -1.0, 0.5], rtol=1e-5, atol=1e-5):
        return f"WRONG, forward: {forward} for {expected}"
    return "right"


def main() -> None:
    """Verdicts over a range of seeds."""
    counts: dict[str, int] = {}
    for seed in range(int(sys.argv[1]), int(sys.argv[1]) + int(sys.argv[2])):
        try:
            found = verdict(seed)
        except (TypeError, NameError, SyntaxError, AttributeError, KeyError, IndexError, RuntimeError) as error:
            found = f"UNCODED {type(error).__name__}: {error}"
        short = found.split(":")[0]
        counts[short] = counts.get(short, 0) + 1
        if short.startswith(("WRONG", "UNCODED")):
            print(seed, found)
    print(counts)


if __name__ == "__main__":
    main()
