"""Whole functions, drawn at random, that write: into arrays and views, into lists, through procedures and closures.

Every array has shape (4,), every other value is a float, so that any statement fits any place. `python -m
tests.random.writes FIRST COUNT` draws programs and prints how many were right, refused or wrong.
"""

from __future__ import annotations

import collections
import linecache
import random
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from srcgrad import check_grads
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.check.check import CheckFailed
from tests.random.judge import refusal

HELPERS = """\
def total(u, s):
    v = np.sin(u * s)
    v[0] = s
    return np.sum(v * u)


def fill(u, s):
    u[0] = s
    u[1:] *= 0.5
    u[2] += np.tanh(s)


def swap(u, i, j):
    u[i], u[j] = u[j], u[i]
    return u[i] * 0.3


def power(s, n):
    if n <= 0:
        return 1.0 + 0.1 * s
    return np.tanh(s) * power(s, n - 1)


def push(ys, s):
    ys.append(s * 0.7)


def apply(h, s, k=0.4):
    return h(s) * k


def half(u):
    v = u * 0.5
    return v


def same(u):
    return u


def pair(u, s):
    return u[1:], s * 0.9


"""
REGIONS = (
    "1:-1",
    "::2",
    "1:",
    "...",
    ":",
    ":-1",
    "::-1",
    "-2:",
    "[0, 2]",
    "[1, 1]",
    "np.array([3, 0, 3])",
    "idx",
    "m > 0.5",
)
VIEWS = ("{a}[1:]", "{a}[::-1]", "{a}[:-1]", "{a}.T", "{a}[::2]", "{a}[:]", "{a}", "{a}[1:][::-1]")
TESTS = ("c > 0.4", "{a}[0] > 0.3", "x[1] > 0.0", "{a}[1] < 0.1", "c < 0.5", "{s} > 0.2", "n > 1")


@dataclass
class Writer:
    """One function being written: its lines, and the names that may be read where the next line goes."""

    drawn: random.Random
    lines: list[str] = field(default_factory=list)
    arrays: list[str] = field(default_factory=lambda: ["a"])
    numbers: list[str] = field(default_factory=lambda: ["c"])
    lists: list[str] = field(default_factory=list)
    dicts: list[str] = field(default_factory=list)
    pairs: list[str] = field(default_factory=list)
    counters: list[str] = field(default_factory=list)
    closures: list[str] = field(default_factory=list)
    made: int = 0
    scalar: bool = True

    def pick(self, choices: Sequence[Any]) -> Any:
        return self.drawn.choice(choices)

    def fresh(self, stem: str) -> str:
        self.made += 1
        return f"{stem}{self.made}"

    def index(self) -> str:
        around = [*self.counters * 3, *(f"{i} - 1" for i in self.counters), *(f"(2 * {i}) % 4" for i in self.counters)]
        return str(self.pick(["0", "1", "-1", "2", *around]))

    def array(self) -> str:
        return str(self.pick(self.arrays))

    def number(self, depth: int = 0) -> str:
        """An expression for a float."""
        kind = self.drawn.randint(0, 10 if depth < 2 else 2)
        if kind == 0:
            return str(self.pick(self.numbers))
        if kind == 1:
            return f"{self.array()}[{self.index()}]"
        if kind == 2:
            return f"x[{self.index()}]"
        if kind == 3:
            return f"np.sin({self.number(depth + 1)})"
        if kind == 4:
            return f"{self.number(depth + 1)} * {self.number(depth + 1)}"
        if kind == 5:
            return f"({self.number(depth + 1)} + {self.number(depth + 1)})"
        if kind == 6:
            return f"np.sum({self.array()} * x)"
        if kind == 7:
            return f"np.tanh({self.number(depth + 1)}) * {round(self.drawn.uniform(0.2, 1.5), 2)}"
        if kind == 8 and self.lists:
            return f"{self.pick(self.lists)}[{self.pick(['0', '-1'])}]"
        if kind == 9 and self.closures:
            return f"{self.pick(self.closures)}({self.number(depth + 1)})"
        return str(
            self.pick(
                [
                    f"power({self.number(depth + 1)}, {self.pick(['0', '1', 'n'])})",
                    f"apply(np.tanh, {self.number(depth + 1)})",
                    f"max({self.number(depth + 1)}, 0.123)",
                    f"np.mean(np.array([v * {self.number(2)} for v in x if v > 0.3] + [0.1]))",
                    f"sum(v * 0.5 for v in {self.array()})",
                ]
            )
        )

    def whole(self) -> str:
        """An expression for a new array."""
        a = self.pick([*self.arrays, "x"])
        forms = (
            "np.sin({a})", "{a} * {s}", "{a} * x", "x + {a}", "{a}.copy()", "np.zeros(4)", "np.zeros_like(x)",
            "np.tanh({a}) * 0.7", "np.array([v * 0.9 for v in {a}])", "np.sort({a} * 1.1)",
        )  # fmt: skip
        return str(self.pick(forms)).replace("{a}", a).replace("{s}", self.number(1))

    def put(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def block(self, indent: int, depth: int, most: int) -> None:
        kinds = ("arrays", "numbers", "lists", "dicts", "pairs", "closures")
        known = {kind: list(getattr(self, kind)) for kind in kinds}
        for _ in range(self.drawn.randint(1, most)):
            self.statement(indent, depth)
        for kind, names in known.items():
            setattr(self, kind, names)

    def statement(self, indent: int, depth: int) -> None:
        simple = ["element", "element", "region", "region", "stencil", "array", "number", "view", "view", "change",
                  "fill", "call", "list", "list", "swap", "closure", "out", "chosen", "tuple", "display",
                  "dict", "pair", "either", "result"]  # fmt: skip
        nested = ["for", "for", "while", "if", "zip", "rows", "leave", "leave"] if depth < 2 else []
        getattr(self, f"write_{self.pick(simple + nested)}")(indent, depth)

    def write_element(self, indent: int, depth: int) -> None:
        op = self.pick(["=", "=", "+=", "-=", "*="])
        self.put(indent, f"{self.array()}[{self.index()}] {op} {self.number()}")

    def write_region(self, indent: int, depth: int) -> None:
        a, region = self.array(), self.pick(REGIONS)
        op = self.pick(["=", "=", "+=", "*=", "-="])
        value = self.pick(["{s}", "x[{r}] * {s}", "{b}[{r}]", "np.sin({a}[{r}])", "np.cos({b}[{r}])"])
        value = value.replace("{s}", self.number()).replace("{r}", region).replace("{a}", a)
        self.put(indent, f"{a}[{region}] {op} {value.replace('{b}', self.array())}")

    def write_stencil(self, indent: int, depth: int) -> None:
        a = self.array()
        forms = (
            "{a}[1:-1] = {a}[2:] * {s} + {a}[:-2]",
            "{a}[1:] = {b}[:-1]",
            "{a}[::-1] *= {b}",
            "{a}[1:] += {a}[:-1] * 0.5",
        )
        text = str(self.pick(forms)).replace("{a}", a).replace("{b}", self.array())
        self.put(indent, text.replace("{s}", self.number()))

    def write_array(self, indent: int, depth: int) -> None:
        if depth == 0 or self.pick([True, False]):
            bound = self.fresh("b")
            self.put(indent, f"{bound} = {self.whole()}")
            self.arrays.append(bound)
        else:
            self.put(indent, f"{self.array()} = {self.whole()}")

    def write_number(self, indent: int, depth: int) -> None:
        bound = self.pick([*self.numbers, self.fresh("s")])
        self.put(indent, f"{bound} = np.tanh({self.number()} + 0.3 * c)")
        if bound not in self.numbers:
            self.numbers.append(bound)

    def write_view(self, indent: int, depth: int) -> None:
        view, a = self.fresh("v"), self.array()
        self.put(indent, f"{view} = {self.pick(VIEWS).replace('{a}', a)}")
        for _ in range(self.drawn.randint(0, 2)):
            op = self.pick(["=", "+=", "*="])
            part = self.pick([f"{view}[0]", f"{view}[:1]", f"{view}[-1]", f"{a}[{self.index()}]"])
            self.put(indent, f"{part} {op} {self.number()}")
        self.put(indent, f"c = c + 0.3 * np.sum({view} * {view})")

    def write_change(self, indent: int, depth: int) -> None:
        self.put(indent, f"{self.array()} {self.pick(['+=', '*=', '-='])} {self.pick([self.whole(), self.number()])}")

    def write_fill(self, indent: int, depth: int) -> None:
        forms = ("np.copyto({a}, {w})", "{a}.fill({s})", "np.add.at({a}, [0, 2, 0], {s})", "{a}.sort()")
        text = str(self.pick(forms)).replace("{a}", self.array())
        self.put(indent, text.replace("{w}", self.whole()).replace("{s}", self.number()))

    def write_out(self, indent: int, depth: int) -> None:
        call = self.pick(["np.multiply({b}, {s}", "np.sin({b}", "np.add({b}, x"])
        call = call.replace("{b}", self.array()).replace("{s}", self.number())
        self.put(indent, f"{call}, out={self.array()})")

    def write_call(self, indent: int, depth: int) -> None:
        forms = (
            "fill({a}, {s})", "fill({a}[1:], {s})", "c = swap({a}, 0, {i})", "c = total({a}, c)",
            "{a}[{i}] = total({b}[1:], {s})", "c = c + total({a}, {s})",
        )  # fmt: skip
        text = str(self.pick(forms)).replace("{a}", self.array()).replace("{b}", self.array())
        self.put(indent, text.replace("{s}", self.number()).replace("{i}", self.index()))

    def write_list(self, indent: int, depth: int) -> None:
        if not self.lists or (depth == 0 and self.pick([True, False, False])):
            bound = self.fresh("l")
            self.put(indent, f"{bound} = [{self.number()}, {self.number()}]")
            self.lists.append(bound)
            return
        forms = (
            "{l}.append({s})", "{l}.append({s})", "{l}[0] = {s}", "{l}[-1] *= {s}", "push({l}, {s})",
            "c = c + 0.2 * np.sum(np.array({l}))", "{l}.extend([{s}, c])", "if len({l}) > 2:\n{p}    c = c * {l}.pop()",
            "{l} = [v * 0.8 for v in {l}]", "{l}.insert(0, {s})", "c = c + 0.1 * sum({l})",
        )  # fmt: skip
        text = str(self.pick(forms)).replace("{l}", self.pick(self.lists)).replace("{p}", "    " * indent)
        self.put(indent, text.replace("{s}", self.number()))

    def write_display(self, indent: int, depth: int) -> None:
        region = self.pick(["1:3", "[0, 2]", "::2", "-2:", "[1, 1]", "::-2"])
        one, two = self.number(), self.number()
        shown = self.pick(["[{one}, {two}]", "({one}, {two})", "np.sin([{one}, {two}])"])
        op = self.pick(["=", "=", "+=", "*="]) if "np" in shown else "="
        self.put(indent, f"{self.array()}[{region}] {op} {shown.replace('{one}', one).replace('{two}', two)}")

    def write_dict(self, indent: int, depth: int) -> None:
        if not self.dicts:
            bound = self.fresh("d")
            self.put(indent, f'{bound} = {{"u": {self.number()}, "v": {self.number()}}}')
            self.dicts.append(bound)
            return
        forms = (
            '{d}["u"] += {s}', '{d}["v"] = {s}', '{d}["u"] -= {d}["v"] * {s}', 'c = np.tanh({d}["u"] + c)',
            '{d}.update({"u": {d}["v"], "v": {s}})', 'for k in {d}:\n{p}    c = c + 0.1 * {d}[k]',
        )  # fmt: skip
        text = str(self.pick(forms)).replace("{d}", self.pick(self.dicts)).replace("{p}", "    " * indent)
        self.put(indent, text.replace("{s}", self.number()))

    def write_pair(self, indent: int, depth: int) -> None:
        if not self.pairs:
            bound = self.fresh("ps")
            self.put(indent, f"{bound} = [({self.number()}, {self.number()})]")
            self.pairs.append(bound)
            return
        forms = (
            "{l}.append(({s}, c))", "c = np.tanh({l}[-1][0] + {l}[0][1])", "{l}[0] = ({s}, {s})",
            "for e, h in {l}:\n{p}    c = c + 0.1 * e * h", "c = c + 0.2 * sum([e * h for e, h in {l}])",
        )  # fmt: skip
        text = str(self.pick(forms)).replace("{l}", self.pick(self.pairs)).replace("{p}", "    " * indent)
        self.put(indent, text.replace("{s}", self.number()))

    def write_either(self, indent: int, depth: int) -> None:
        one, two = self.number(2), self.number(2)
        self.put(indent, f"c = np.tanh(({one}) {self.pick(['or', 'and'])} ({two})) + 0.2")

    def write_result(self, indent: int, depth: int) -> None:
        bound = self.fresh("v")
        called = self.pick(["half({a})", "half({a})", "half({a}[::-1])", "same({a} * 0.9)", "pair({a}, c)[0]"])
        self.put(indent, f"{bound} = {called.replace('{a}', self.array())}")
        if "half" in called and self.pick([True, False]):
            self.write_element(indent, depth)
        self.put(indent, f"c = c + 0.2 * np.sum({bound} * {bound})")

    def write_swap(self, indent: int, depth: int) -> None:
        a, b = self.array(), self.array()
        elements = f"{a}[{self.index()}], {a}[{self.index()}] = {a}[{self.index()}], {a}[{self.index()}]"
        self.put(indent, elements if a == b else f"{a}, {b} = {b}, {a}")

    def write_closure(self, indent: int, depth: int) -> None:
        bound = self.fresh("g")
        if self.pick([True, False]):
            self.put(indent, f"{bound} = lambda t: np.sin(t) * {self.number(1)}")
        else:
            self.put(indent, f"def {bound}(t):")
            if self.pick([True, False]):
                self.put(indent + 1, "if t > 0.2:")
                self.put(indent + 2, f"return t * {self.number(2)}")
            self.put(indent + 1, f"return np.tanh(t) + {self.number(2)}")
        self.put(indent, f"c = np.tanh({bound}({self.number()}))")
        self.closures.append(bound)

    def write_chosen(self, indent: int, depth: int) -> None:
        self.put(indent, f"c = {self.number()} if {self.test()} else {self.number()}")

    def write_tuple(self, indent: int, depth: int) -> None:
        one, two = self.fresh("p"), self.fresh("q")
        self.put(indent, f"{one}, {two} = {self.number()}, {self.number()}")
        self.numbers += [one, two]

    def test(self) -> str:
        return str(self.pick(TESTS)).replace("{a}", self.array()).replace("{s}", self.pick(self.numbers))

    def loop(self, indent: int, depth: int, head: str, counter: str = "") -> None:
        self.put(indent, head)
        self.counters += [counter] if counter else []
        self.block(indent + 1, depth + 1, 3)
        self.counters = self.counters[:-1] if counter else self.counters
        if self.pick([False, False, False, True]):
            self.put(indent, "else:")
            self.block(indent + 1, 2, 1)

    def write_for(self, indent: int, depth: int) -> None:
        i = self.fresh("i")
        trips = self.pick(["1, 4", "3", "0", "1", "n", "n - 1", "3, 0, -1"])
        self.loop(indent, depth, f"for {i} in range({trips}):", i)

    def write_zip(self, indent: int, depth: int) -> None:
        i, u, v = self.fresh("i"), self.fresh("u"), self.fresh("w")
        head = self.pick(
            [f"for {i}, {u} in enumerate(x):", f"for {i}, ({u}, {v}) in enumerate(zip(x, {self.array()})):"]
        )
        self.numbers.append(u)
        self.loop(indent, depth, head, i)
        self.numbers.remove(u)

    def write_rows(self, indent: int, depth: int) -> None:
        row = self.fresh("r")
        self.put(indent, f"for {row} in {self.pick([self.array(), 'x', 'reversed(x)', '[c, x[0]]'])}:")
        self.numbers.append(row)
        self.block(indent + 1, depth + 1, 2)
        self.numbers.remove(row)

    def write_while(self, indent: int, depth: int) -> None:
        k = self.fresh("k")
        self.put(indent, f"{k} = 0")
        self.put(indent, f"while {k} < 3 and {self.array()}[{k}] < 2.0:")
        self.put(indent + 1, f"{k} += 1")
        self.counters.append(k)
        self.block(indent + 1, depth + 1, 2)
        self.counters.pop()

    def write_if(self, indent: int, depth: int) -> None:
        self.put(indent, f"if {self.test()}:")
        self.block(indent + 1, depth + 1, 2)
        if self.pick([True, False]):
            self.put(indent, "else:")
            self.block(indent + 1, depth + 1, 2)

    def write_leave(self, indent: int, depth: int) -> None:
        self.put(indent, f"if {self.test()}:")
        if self.counters and self.pick([True, True, False]):
            if self.pick([True, False]):
                self.block(indent + 1, 2, 1)
            self.put(indent + 1, self.pick(["break", "continue"]))
        else:
            self.put(indent + 1, f"return {self.result()}")

    def result(self) -> str:
        return str(self.pick(["c", "np.sum(a * a)", "np.sum(a) * c"] if self.scalar else ["a * c", "a + x"]))


def program(seed: int) -> str:
    """The text of one program, which defines f(x, c, n)."""
    writer = Writer(random.Random(seed))
    writer.scalar = writer.pick([True, True, True, False])
    writer.arrays = ["x"]
    first = writer.whole()
    writer.arrays = ["a"]
    writer.lines = ["    idx = np.array([0, 2, 1])", "    m = np.array([0.1, 0.9, 0.7, 0.2])", f"    a = {first}"]
    for _ in range(writer.drawn.randint(2, 7)):
        writer.statement(1, 0)
    last = writer.arrays[-1]
    ends = [f"np.sum(a * {last})", "np.sum(a * a) + c", f"c + np.sum({last})"] if writer.scalar else [last, "a * c"]
    writer.put(1, f"return {writer.pick(ends)}")
    return HELPERS + "def f(x, c, n):\n" + "\n".join(writer.lines) + "\n"


def arguments(seed: int) -> tuple[Any, ...]:
    """Values for x, c, n: none of them close to where a test turns."""
    numbers = np.random.default_rng(seed)
    x = numbers.uniform(0.2, 1.4, 4) * numbers.choice([-1, 1], 4)
    return x, float(numbers.uniform(0.3, 1.2)), int(numbers.integers(0, 4))


def outcome(seed: int, order: int = 1, text: str = "") -> str:
    """`right`, `refused CODE: message`, `skipped` (the program itself fails or grows), or `wrong: why`."""
    text, name = text or program(seed), f"<random write {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), space)
    args = arguments(seed)
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            value = space["f"](args[0].copy(), *args[1:])
    except Exception:
        return "skipped"
    if value is None or not np.all(np.isfinite(value)) or np.max(np.abs(value), initial=0) > 1e4:
        return "skipped"
    before = args[0].copy()
    try:
        check_grads(space["f"], args, order)
    except DifferentiationError as error:
        return refusal(error, text)
    except CheckFailed as error:
        differences = {record.oracle for record in error.records} <= {"reverse", "forward"}
        return "skipped" if differences and steep(space["f"], args) else f"wrong: {error}"
    except Exception as error:
        return f"wrong: {type(error).__name__} {error}"
    finally:
        linecache.cache.pop(name, None)
    return "right" if np.array_equal(before, args[0]) else "wrong: the argument was changed"


def steep(f: Any, args: tuple[Any, ...]) -> bool:
    """Whether the function is too steep, or too curved, for differences: two steps give two slopes."""
    value = np.asarray(f(args[0].copy(), *args[1:]))
    slopes = []
    for step in (1e-6, 1e-7):
        moved = np.asarray(f(args[0] * (1.0 + step), args[1] * (1.0 + step), args[2]))
        slopes.append((moved - value) / step)
    return bool(np.max(np.abs(slopes[0] - slopes[1])) > 1e-3 * (1.0 + np.max(np.abs(slopes))))


def main(first: int, count: int, order: int = 1, draw: Callable[[int], str] = program) -> int:
    """Draw programs, print the counts; the number that were wrong."""
    counts: collections.Counter[str] = collections.Counter()
    reasons: collections.Counter[str] = collections.Counter()
    for seed in range(first, first + count):
        found = outcome(seed, order, draw(seed))
        counts[found.split()[0].rstrip(":")] += 1
        if found.startswith("refused"):
            reasons["".join("." if c.isdigit() else c for c in found)[:110]] += 1
        if found.startswith("wrong"):
            print(f"program {seed}: {found[:400]}".replace("\n", " | "), flush=True)
    total = sum(counts.values()) - counts["skipped"]
    print(f"{total} programs: {counts['right']} right, {counts['refused']} refused, {counts['wrong']} wrong", end="")
    print(f"; {100 * counts['refused'] / max(total, 1):.1f} % refused; {counts['skipped']} drawn ones do not run")
    for reason, number in reasons.most_common(12):
        print(f"{number:6d} {reason}")
    return counts["wrong"]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(min(main(*map(int, sys.argv[1:])), 1))
