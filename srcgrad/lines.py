"""`srcgrad explain`: line by line, what carries the derivative, what is recorded, how much that is, and why."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any  # functions of arbitrary arguments

from srcgrad.derivative import Derivative
from srcgrad.facts import Facts, Kind
from srcgrad.front.target import find_target
from srcgrad.imported import function_of, module_of
from srcgrad.inputs import active, annotated, check_names, named
from srcgrad.modules import Module
from srcgrad.running import run
from srcgrad.trial import evaluated


@dataclass
class Line:
    """One line of a function: whether it carries the derivative, what it records, and why."""

    number: int
    text: str
    active: bool = False
    recorded: list[str] = field(default_factory=list)
    why: list[str] = field(default_factory=list)


def explain_target(
    target: str, *, wrt: tuple[str, ...] | None = None, arguments: str | None = None, text: str | None = None
) -> int:
    """Print a table for each function of a target; with `arguments`, Python text, run it and print bytes too."""
    functions = find_target(target, text=text)
    check_names(functions, wrt)
    for place, function in enumerate(functions):
        kinds = annotated(function)
        names = active(function, kinds) if wrt is None else named(function, wrt)
        if arguments is None:
            facts, sizes = _facts(function, names, kinds), dict[str, list[int]]()
        else:
            values = evaluated(arguments)
            with module_of(target, text) as module:
                facts, sizes = measured(function_of(module, function.qualname), names, values)
        if place:
            print()
        sys.stdout.write(table(facts, sizes))
    return 0


def _facts(function: Any, names: tuple[str, ...], kinds: dict[str, Kind]) -> Facts:
    module = Module()
    made = module.derivative(function, "reverse", names, kinds)
    return next(part.facts for part in module.made.values() if part.name == made)


def measured(
    function: Callable[..., Any], names: tuple[str, ...], values: tuple[Any, ...]
) -> tuple[Facts, dict[str, list[int]]]:
    """The facts of a live function, and the bytes of each value that its pullback keeps, one per trip."""
    derivative = Derivative(function, "vjp", names, False)
    given, kinds = derivative.arguments(values, {})
    compiled = derivative.compiled(kinds)
    _, back = run(compiled.function, given, derivative.signature)
    held = {n: c.cell_contents for n, c in zip(back.__code__.co_freevars, back.__closure__ or (), strict=True)}
    sizes = {n: [_bytes(part) for part in (v if isinstance(v, list) else [v])] for n, v in held.items()}
    return _facts(function, derivative.wrt, kinds), sizes


def _bytes(value: Any) -> int:
    if isinstance(value, list | tuple):
        return sum(_bytes(part) for part in value)
    return int(getattr(value, "nbytes", sys.getsizeof(value)))


def lines_of(facts: Facts, sizes: dict[str, list[int]]) -> list[Line]:
    """The lines of a function that do something."""
    found: dict[int, Line] = {}
    first = facts.source.tree.lineno + 1
    for number in sorted(facts.lines):
        if first <= number <= len(facts.source.lines):
            text = facts.source.lines[number - 1].rstrip()
            line = found.setdefault(number, Line(number, text))
            line.active = "active" in facts.lines[number]
            if not line.active:
                line.why.append(next(iter(facts.lines[number])))
    for kept, record in facts.recorded.items():
        line = found.setdefault(record.line, Line(record.line, facts.source.lines[record.line - 1].rstrip()))
        line.recorded.append(record.value + _size(sizes.get(kept)))
        by = ", ".join(map(str, record.needed)) or "what is undone before it"
        line.why.append(f"{record.value}: needed by {'line ' if record.needed else ''}{by}")
    return [found[number] for number in sorted(found)]


def _size(sizes: list[int] | None) -> str:
    if sizes is None:
        return ""
    trips = f" x {len(sizes)}" if len(sizes) != 1 else ""
    return f" ({max(sizes, default=0)} bytes{trips})"


def table(facts: Facts, sizes: dict[str, list[int]]) -> str:
    """The lines as a table."""
    rows = [("line", "active", "recorded", "why", "text")]
    for line in lines_of(facts, sizes):
        recorded, why = ", ".join(line.recorded) or "-", "; ".join(line.why) or "-"
        rows.append((str(line.number), "yes" if line.active else "no", recorded, why, line.text))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    title = f"{facts.source.name}, with respect to {', '.join(facts.wrt)}"
    body = ["  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[4]]).rstrip() for row in rows]
    return "\n".join([title, *body, ""])
