"""Random programs that bind arrays anew while something else holds those of before: names, views, lists, the caller.

`python -m tests.random.anew FIRST COUNT [ORDER]` prints how many were right, refused or wrong.
"""

from __future__ import annotations

import random
import sys

from tests.random.writes import HELPERS, Writer, main

KINDS = ["kept", "kept", "kept", "anew", "anew", "shown", "trail", "trail", "number"]


class Keeper(Writer):
    """A function that goes on from arrays that it, or its caller, still holds."""

    def statement(self, indent: int, depth: int) -> None:
        nested = ["for", "for", "if", "while", "leave"] if depth < 2 else []
        getattr(self, f"write_{self.pick(KINDS + nested)}")(indent, depth)

    def write_kept(self, indent: int, depth: int) -> None:
        """The array of before under another name; then its own name is bound to a new one, which is written into."""
        a, old = self.array(), self.pick([self.fresh("o"), self.array()])
        if old != a:
            self.put(indent, f"{old} = {a}")
            self.arrays += [] if old in self.arrays else [old]
        form = self.pick(["{a}.copy()", "{a} * {s}", "np.sin({a})", "{a} + x", "{b} * {a}"])
        form = form.replace("{a}", a).replace("{b}", self.array()).replace("{s}", self.number(1))
        self.put(indent, f"{a} = {form}")
        for _ in range(self.drawn.randint(1, 3)):
            part = self.pick([f"{a}[{self.index()}]", f"{a}[1:]", f"{a}[idx]", f"{a}[m > 0.5]"])
            self.put(indent, f"{part} {self.pick(['=', '*=', '+='])} {old}[{self.index()}] * {self.number(1)}")

    def write_anew(self, indent: int, depth: int) -> None:
        self.put(indent, f"{self.array()} = {self.whole()}")

    def write_shown(self, indent: int, depth: int) -> None:
        view, a = self.fresh("v"), self.array()
        self.put(indent, f"{view} = {self.pick(['{a}[1:]', '{a}[::-1]', '{a}[:-1]', '{a}[::2]']).replace('{a}', a)}")
        self.put(indent, f"{a} = {self.whole()}")
        self.put(indent, f"{a}[{self.index()}] += {view}[0] * {self.number(1)}")
        self.put(indent, f"c = np.tanh(c + 0.3 * np.sum({view} ** 2))")

    def write_trail(self, indent: int, depth: int) -> None:
        """Arrays in a list, as a simulation keeps its states."""
        self.put(indent, f"trail.append({self.array()})")
        self.put(indent, f"c = np.tanh(c + 0.3 * np.sum(trail[{self.pick(['0', '-1', '-1'])}] * {self.array()}))")


def program(seed: int) -> str:
    """The text of one program, which defines f(x, c, n)."""
    writer = Keeper(random.Random(seed))
    writer.scalar = writer.pick([True, True, True, False])
    writer.lines = ["    idx = np.array([0, 2, 1])", "    m = np.array([0.1, 0.9, 0.7, 0.2])"]
    writer.lines += [f"    a = {writer.pick(['x', 'x', 'x * c'])}", "    trail = [a]"]
    for _ in range(writer.drawn.randint(3, 8)):
        writer.statement(1, 0)
    last = writer.arrays[-1]
    ends = [f"np.sum(a * {last})", "np.sum(a * trail[-1]) + c"] if writer.scalar else [last, "a * trail[0] * c"]
    writer.put(1, f"return {writer.pick(ends)}")
    return HELPERS + "def f(x, c, n):\n" + "\n".join(writer.lines) + "\n"


if __name__ == "__main__":
    sys.exit(min(main(*map(int, sys.argv[1:]), draw=program), 1))
