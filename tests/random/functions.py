"""Whole functions, drawn at random, from the language that srcgrad accepts.

Values are of three kinds: "s" a float, "v" an array (3,), "m" an array (3, 3). Every operation is smooth
where it is used, up to comparisons with generic numbers, and most results are brought back to the size of
one, so that finite differences resolve the derivative. A writer asks for all its choices through one
function, `pick`, so the same programs come from Hypothesis, which can shrink them, and from
`random.Random`, which is fast.
"""

from __future__ import annotations

import linecache
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any  # choices and drawn arguments are arbitrary objects

import numpy as np
from hypothesis import strategies as st

from tests.random.expressions import BOUNDED, EXPRESSIONS, TESTS

Pick = Callable[[Sequence[Any]], Any]
Helpers = dict[str, tuple[str, tuple[str, ...]]]  # name -> kind of the result, kinds of the parameters
KINDS = "svm"
STATEMENTS = ("assign", "assign", "pair", "augmented", "chain", "if", "for", "rows", "while", "unpack")

RANGES = (
    "range(3)",
    "range(n)",
    "range(1, 3)",
    "reversed(range(3))",
    "range(2, -1, -1)",
    "range(0, 3, 2)",
    "range({i})",
)
NUMBERS = ("0.137", "-0.213", "0.571", "0.911", "1.3", "-0.777")


@dataclass
class Writer:
    """One function being written: its lines, and what may be read where the next line goes."""

    pick: Pick
    known: dict[str, str] = field(default_factory=dict)  # name -> kind, surely bound here
    counters: list[str] = field(default_factory=list)
    helpers: Helpers = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    made: int = 0

    def names(self, kind: str) -> list[str]:
        return [name for name, known in self.known.items() if known == kind]

    def leaf(self, kind: str) -> str:
        names = self.names(kind)
        if names:
            return str(self.pick(names[::-1]))
        fill = {"s": "0.7", "v": "np.array([0.3, -0.4, 0.9])", "m": "(np.eye(3) * 0.8 + 0.1)"}
        return fill[kind]

    def fill(self, template: str, depth: int) -> str:
        """A template with its holes filled from left to right."""
        parts = template.split("{")
        made = parts[0]
        for part in parts[1:]:
            hole, rest = part.split("}", 1)
            made += self.hole(hole, depth) + rest
        return made

    def hole(self, hole: str, depth: int) -> str:
        if hole in KINDS:
            return self.expression(hole, depth - 1)
        if hole == "i":
            return str(self.pick([*self.counters[::-1], "0", "1", "2"]))
        if hole == "test":
            return self.fill(self.pick(TESTS), min(depth, 1))
        return self.leaf("v") if hole == "w" else str(self.pick(NUMBERS))

    def expression(self, kind: str, depth: int) -> str:
        if depth <= 0 or self.pick((False, False, True)):
            return self.leaf(kind)
        calls = [name for name, (result, _) in self.helpers.items() if result == kind]
        if calls and self.pick((False, False, True)):
            return self.call(self.pick(calls), depth)
        return f"({self.fill(self.pick(EXPRESSIONS[kind]), depth)})"

    def call(self, helper: str, depth: int) -> str:
        """A call with some arguments by keyword; the last parameter, a float, has a default."""
        kinds = self.helpers[helper][1]
        given = [self.expression(kind, depth - 1) for kind in kinds]
        form = self.pick(("all", "default", "keyword"))
        if form == "default":
            given = given[:-1]
        elif form == "keyword":
            given[-1] = f"last={given[-1]}"
        return f"{helper}({', '.join(given)})"

    def value(self, kind: str) -> str:
        return str(self.pick(BOUNDED)).replace("{e}", self.expression(kind, 2))

    def target(self, kind: str) -> str:
        """A name to bind: often one that is bound already."""
        names = [name for name in self.names(kind) if name not in self.counters]
        if names and self.pick((True, True, False)):
            return str(self.pick(names))
        self.made += 1
        return f"{kind}{self.made}"

    def put(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def block(self, indent: int, depth: int) -> None:
        for _ in range(self.pick((1, 2, 3))):
            kind = self.pick(STATEMENTS)
            if depth == 0 and kind in ("if", "for", "rows", "while"):
                kind = "assign"
            getattr(self, f"write_{kind}")(indent, depth)

    def write_assign(self, indent: int, depth: int) -> None:
        kind = self.pick(KINDS)
        value = self.value(kind)
        self.bind(indent, self.target(kind), kind, value)

    def bind(self, indent: int, name: str, kind: str, value: str) -> None:
        self.put(indent, f"{name} = {value}")
        self.known[name] = kind

    def write_pair(self, indent: int, depth: int) -> None:
        kinds = self.pick(("ss", "vs", "vv", "sm"))
        values = [self.value(kind) for kind in kinds]
        first = self.target(kinds[0])
        second = self.target(kinds[1])
        if first == second:
            second = second + "_"
        self.put(indent, f"{first}, {second} = {', '.join(values)}")
        self.known.update({first: kinds[0], second: kinds[1]})

    def write_unpack(self, indent: int, depth: int) -> None:
        """The elements of an array, or a nested tuple."""
        self.made += 1
        a, b, c = (f"u{self.made}{letter}" for letter in "abc")
        form = self.pick(("{a}, {b}, {c} = {v}", "{a}, ({b}, {c}) = {s}, ({s}, {s})"))
        names = {"a": a, "b": b, "c": c}
        text = form.replace("{a}", a).replace("{b}", b).replace("{c}", c)
        self.put(indent, self.fill(text, 2))
        self.known.update(dict.fromkeys(names.values(), "s"))

    def write_augmented(self, indent: int, depth: int) -> None:
        kind = self.pick("sv")
        value = self.value(kind)
        if kind == "v":  # a fresh array, which nothing else can see
            self.made += 1
            name = f"f{self.made}"
            self.put(indent, f"{name} = {self.pick(('np.zeros(3)', 'np.sin(' + self.leaf('v') + ')'))}")
            self.known[name] = "v"
        else:
            name = self.target(kind)
            if name not in self.known:
                self.bind(indent, name, kind, self.leaf(kind))
        self.put(indent, f"{name} {self.pick(('+=', '*=', '-='))} {value}")

    def write_chain(self, indent: int, depth: int) -> None:
        kind = self.pick(KINDS)
        value = self.value(kind)
        first, second = self.target(kind), self.target(kind)
        self.put(indent, f"{first} = {second} = {value}")
        self.known.update({first: kind, second: kind})

    def write_if(self, indent: int, depth: int) -> None:
        self.put(indent, f"if {self.fill(self.pick(TESTS), 2)}:")
        ends = [self.inner(indent, depth)]
        heads = self.pick(((), ("else",), ("elif", "else"), ("elif",)))
        for head in heads:
            self.put(indent, "else:" if head == "else" else f"elif {self.fill(self.pick(TESTS), 1)}:")
            ends.append(self.inner(indent, depth))
        if "else" not in heads:
            ends.append(dict(self.known))
        self.known = {n: k for n, k in ends[0].items() if all(end.get(n) == k for end in ends)}

    def inner(self, indent: int, depth: int) -> dict[str, str]:
        """A block; the names that are bound at its end, while those of before stay known here."""
        before = dict(self.known)
        self.block(indent + 1, depth - 1)
        after, self.known = self.known, before
        return after

    def loop(self, indent: int, depth: int) -> None:
        self.inner(indent, depth)

    def write_for(self, indent: int, depth: int) -> None:
        self.made += 1
        counter = f"i{self.made}"
        self.put(indent, f"for {counter} in {self.fill(self.pick(RANGES), 1)}:")
        self.counters.append(counter)
        self.loop(indent, depth)
        self.counters.remove(counter)

    def write_rows(self, indent: int, depth: int) -> None:
        kind = self.pick("vs")
        self.made += 1
        row = f"{kind}{self.made}"
        self.put(indent, f"for {row} in {self.expression('m' if kind == 'v' else 'v', 1)}:")
        before = dict(self.known)
        self.known[row] = kind
        self.loop(indent, depth)
        self.known = before

    def write_while(self, indent: int, depth: int) -> None:
        self.made += 1
        counter = f"k{self.made}"
        self.put(indent, f"{counter} = 0")
        extra = self.fill(self.pick(("", " and {s} < {c}", " and np.sum({v}) < 2.0")), 1)
        trips = self.pick(("3", "2", "n"))
        self.put(indent, f"while {counter} < {trips}{extra}:")
        self.counters.append(counter)
        if self.pick((True, False)):
            self.put(indent + 1, f"{counter} = {counter} + 1")
            self.counters.remove(counter)  # it may be 3 from here on
            self.loop(indent, depth)
        else:
            self.loop(indent, depth)
            self.put(indent + 1, f"{counter} += 1")
            self.counters.remove(counter)

    def result(self) -> str:
        names = [name for name in self.known if name not in self.counters][-4:]
        form = self.pick(("sum", "one", "tuple", "expression"))
        if form == "one":
            return str(self.pick(names[::-1]))
        if form == "tuple":
            return f"{', '.join(names)},"
        if form == "expression":
            return self.expression(self.pick(KINDS), 2)
        return " + ".join(f"np.sum({name})" for name in names)


def helper(pick: Pick, name: str, helpers: Helpers) -> tuple[str, str, tuple[str, ...]]:
    """A callee: its text, the kind of its result, the kinds of its parameters."""
    kinds = (*pick((("s",), ("v",), ("m", "v"), ("s", "v"))), "s")
    names = [f"p{position}" for position in range(len(kinds) - 1)] + ["last"]
    writer = Writer(pick, dict(zip(names, kinds, strict=True)), helpers=dict(helpers))
    writer.put(1, "n = 2")
    writer.block(1, pick((0, 0, 1)))
    result = pick("sv")
    writer.put(1, f"return {writer.value(result)}")
    header = f"def {name}({', '.join(names[:-1])}, last=0.4):"
    return "\n".join([header, *writer.lines]), result, kinds


def program(pick: Pick) -> tuple[str, str]:
    """The text of a module with a function `f`, and the kinds of its parameters (n, an int, comes last)."""
    texts, helpers = [], {}
    for number in range(pick((0, 0, 1, 2))):
        text, result, kinds = helper(pick, f"g{number}", helpers)
        texts.append(text)
        helpers[f"g{number}"] = (result, kinds)
    kinds = pick(("s", "ss", "v", "sv", "vm", "ssvm", "vv"))
    names = [f"x{position}" for position in range(len(kinds))]
    writer = Writer(pick, dict(zip(names, kinds, strict=True)), helpers=helpers)
    for _ in range(pick((1, 2, 3))):
        writer.block(1, pick((1, 2, 3, 4)))
    writer.put(1, f"return {writer.result()}")
    texts.append("\n".join([f"def f({', '.join(names)}, n):", *writer.lines]))
    return "\n\n\n".join(texts) + "\n", kinds


def arguments(kinds: str, trips: int, seed: int) -> tuple[Any, ...]:
    """Generic values of these kinds, and the number of trips."""
    generator = np.random.default_rng(seed)
    shapes = {"s": (), "v": (3,), "m": (3, 3)}
    drawn = [generator.uniform(-1.2, 1.2, shapes[kind]) for kind in kinds]
    return (*(float(d) if d.ndim == 0 else d for d in drawn), trips)


def define(text: str, number: int) -> Callable[..., Any]:
    """The function `f` that the text spells, with its text where the front end looks for it."""
    file = f"<random program {number}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np, "math": math, "INDEX": np.array([0, 2, 0])}
    exec(compile(text, file, "exec"), namespace)
    found: Callable[..., Any] = namespace["f"]
    return found


@st.composite
def programs(draw: Any) -> tuple[str, str, int]:
    """Text, kinds of the parameters, trips."""

    def pick(options: Sequence[Any]) -> Any:
        return options[draw(st.integers(0, len(options) - 1))]

    text, kinds = program(pick)
    return text, kinds, draw(st.sampled_from((0, 1, 3)))
