"""Loops that sweep over a matrix and a vector, drawn at random: indices and slices made of the loops' counters.

The programs have the form of those in `tests.random.writes`, and run by its `outcome`; half of what they write lies in
parts that no later statement overlaps, so that records may be left out, and half does not.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

SIZE = 4


class Sweeps:
    """Writes the lines of one program; `counters` are the loops' counters in scope."""

    def __init__(self, drawn: random.Random) -> None:
        self.drawn = drawn
        self.lines: list[str] = []
        self.counters: list[str] = []
        self.count = 0
        self.held: list[str] = []

    def pick(self, items: Sequence[str]) -> str:
        """One of them."""
        return items[self.drawn.randrange(len(items))]

    def put(self, indent: int, line: str) -> None:
        """Write a line."""
        self.lines.append("    " * indent + line)

    def index(self) -> str:
        """An integer index, mostly near a counter."""
        if not self.counters or self.drawn.random() < 0.1:
            return self.pick(["0", "1", "-1"])
        counter = self.pick(self.counters[-2:])
        return self.pick([counter, counter, counter, f"{counter} - 1", f"{counter} - 2"])

    def part(self) -> str:
        """A slice with bounds near a counter."""
        if not self.counters or self.drawn.random() < 0.1:
            return self.pick([":", "1:", ":-1", "::2"])
        i = self.pick(self.counters[-2:])
        return self.pick([f"{i} + 1 :", f":{i}", f"{i}:", f": {i} + 1", f"{i} - 1 :", f"{i} - 1 : {i} + 1", ":"])

    def number(self) -> str:
        """An expression that is a number."""
        i, k, s = self.index(), self.index(), self.part()
        return self.pick(
            [
                f"a[{i}, {k}]",
                f"h[{i}]",
                f"c * h[{i}]",
                f"np.tanh(a[{i}, {k}] * c)",
                f"np.dot(a[{i}, {s}], a[{k}, {s}])",
                f"np.sum(a[{s}, {k}])",
                f"h[{i}] / (2.0 + np.sin(a[{k}, {i}]))",
                f"np.sum(h[{s}] * a[{i}, {s}])",
                *self.held[-2:],
            ]
        )

    def vector(self, s: str) -> str:
        """An expression that has the length of a slice of an axis."""
        i, k, t = self.index(), self.index(), self.part()
        return self.pick(
            [
                f"a[{s}, {i}]",
                f"a[{i}, {s}]",
                f"h[{s}]",
                f"np.tanh(a[{i}, {s}])",
                f"a[{s}, {i}] / (1.5 + np.cos(a[{i}, {k}]))",
                f"a[{s}, {t}] @ a[{k}, {t}]",
                f"a[{s}, {i}] * a[{k}, {i}]",
                f"c * h[{s}]",
            ]
        )

    def write(self, indent: int) -> None:
        """A statement that stores into a part."""
        i, k, s = self.index(), self.index(), self.part()
        kind = self.drawn.randrange(9)
        if kind == 0:
            self.put(indent, f"h[{i}] = np.tanh({self.number()} + 0.3 * {self.number()})")
        elif kind == 1:
            self.put(indent, f"a[{i}, {k}] = np.tanh({self.number()})")
        elif kind == 2:
            self.put(indent, f"a[{s}, {i}] = np.sin({self.vector(s)} - 0.2 * {self.vector(s)})")
        elif kind == 3:
            self.put(indent, f"a[{i}, {s}] -= 0.3 * {self.vector(s)}")
        elif kind == 4:
            self.put(indent, f"a[{s}, {i}] = ({self.vector(s)}) / (2.0 + np.cos({self.number()}))")
        elif kind == 5:
            self.count += 1
            self.put(indent, f"s{self.count} = np.tanh({self.number()})")
            self.put(indent, f"{self.pick([f'h[{i}]', f'a[{i}, {k}]'])} = s{self.count}")
            self.held.append(f"s{self.count}")
        elif kind == 6:
            form = self.pick(["c = 0.5 * np.tanh(c + {})", "c = c / (2.0 + np.cos({}))", "c = {} / (1.5 + c * c)"])
            self.put(indent, form.format(self.number()))
        elif kind == 7:
            self.put(indent, f"h[{s}] = {self.vector(s)}")
        else:
            self.put(indent, f"a[{i}, {k}] *= np.cos({self.number()})")

    def loop(self, indent: int) -> None:
        """A loop whose bounds may depend on the counter around it."""
        self.count += 1
        counter, n = f"i{self.count}", SIZE
        ranges = [f"range({n})", f"range(1, {n})", f"range({n - 1}, -1, -1)", f"reversed(range({n}))", "range(0, 4, 2)"]
        if self.counters:
            i = self.counters[-1]
            ranges += [f"range({i} + 1, {n})", f"range({i})", f"range({n - 1}, {i}, -1)", f"range({i}, {n})"] * 2
        self.put(indent, f"for {counter} in {self.pick(ranges)}:")
        self.counters.append(counter)
        held = len(self.held)
        for _ in range(self.drawn.randint(1, 3)):
            chance = self.drawn.random()
            if chance < 0.3 and len(self.counters) < 3:
                self.loop(indent + 1)
            elif chance < 0.4:
                self.put(indent + 1, f"if {self.number()} > 0.3:")
                self.write(indent + 2) if chance < 0.37 else self.put(indent + 2, self.pick(["continue", "break"]))
            else:
                self.write(indent + 1)
        self.counters.pop()
        del self.held[held:]


def program(seed: int) -> str:
    """The text of one program, which defines f(x, c, n)."""
    drawn = random.Random(seed)
    sweeps = Sweeps(drawn)
    sweeps.lines = ["    a = 0.4 * np.outer(x, np.cos(x)) + 0.1", f"    h = np.zeros({SIZE})"]
    if drawn.random() < 0.3:
        sweeps.lines[-1] = "    h = 0.5 * x"
    for _ in range(drawn.randint(1, 3)):
        sweeps.loop(1) if drawn.random() < 0.85 else sweeps.write(1)
    last = sweeps.pick(["np.sum(a * a) + np.sum(h)", "np.sum(a) * c", "np.sum(h * h) + a[1, 2]", "a[-1]", "h"])
    return "def f(x, c, n):\n" + "\n".join([*sweeps.lines, f"    return {last}"]) + "\n"


if __name__ == "__main__":
    import sys

    from tests.random.writes import main

    sys.exit(min(main(*map(int, sys.argv[1:]), draw=program), 1))
