"""A function and its derivative side by side: which line of one belongs to which lines of the other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import gast

from srcgrad.backend.text.module import origin
from srcgrad.core.facts import Facts
from srcgrad.core.printer.statements import placed_lines
from srcgrad.core.trees import COMPOUND, Node, statements

CITED = re.compile(r"\s*// line (\d+):")

Sizes = Mapping[tuple[str, int], Sequence[int]]  # bytes of each trip, by a value and its line


class Part(Protocol):
    """A derivative with what is known of it, as `pipeline.Derived` is one."""

    @property
    def name(self) -> str: ...

    @property
    def tree(self) -> Node: ...

    @property
    def facts(self) -> Facts: ...


@dataclass(frozen=True)
class KeptValue:
    """A value that a line records: how it is spelled, how large it is, and the lines that need it."""

    value: str
    size: str
    needed: tuple[int, ...]


@dataclass(frozen=True)
class Line:
    """A line of either side; lines of one `group` belong together, 0 is that of no other line.

    Of a line of the source `role` is `active` or `inactive`, with the reason in `why`, or empty. `kept` is what the
    line records, `kernels` those that a line of the derivative runs.
    """

    number: int
    text: str
    group: int = 0
    role: str = ""
    why: str = ""
    kept: tuple[KeptValue, ...] = ()
    kernels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pair:
    """A function, where it stands, and the lines of the output from the end of the pair before it on."""

    function: str
    origin: str
    name: str
    source: tuple[Line, ...]
    made: tuple[Line, ...]


@dataclass(frozen=True)
class Sides:
    """All functions of one output with their derivatives; kernels by name, whose lines are in no pair."""

    text: str
    pairs: tuple[Pair, ...]
    kernels: Mapping[str, tuple[Line, ...]]


def sides(text: str, parts: Iterable[Part], sizes: Sizes | None = None) -> Sides:
    """What a text of derivatives consists of; `sizes` are the bytes that are recorded, by value and line.

    Each line of the text is in one pair, or in one kernel, in its order.
    """
    by_name = {part.name: part for part in parts}
    spans = {d.name: _span(d) for d in ast.parse(text).body if isinstance(d, ast.FunctionDef)}
    lines = text.split("\n")[:-1] if text.endswith("\n") else text.split("\n")
    kernels: dict[str, tuple[Line, ...]] = {}
    pairs: list[Pair] = []
    free: list[Line] = []
    at = 1
    for name, (first, last) in sorted(spans.items(), key=lambda item: item[1]):
        part = by_name.get(name)
        if part is None:
            continue
        free += [Line(number, lines[number - 1]) for number in range(at, first)]
        made = _derivative_lines(lines[first - 1 : last], first, part, by_name, sizes or {})
        at = last + 1
        if is_kernel(part):
            gap = next((k for k in range(len(free), 0, -1) if free[k - 1].text), 0)
            kernels[name], free = (*free[gap:], *_cite_kernel_lines(made)), free[:gap]
        else:
            source = part.facts.source
            own = tuple(_source(part.facts, sizes or {}))
            pairs.append(Pair(source.name, origin(source), name, own, (*free, *made)))
            free = []
    rest = [Line(number, lines[number - 1]) for number in range(at, len(lines) + 1)]
    if pairs and (rest or free):
        last_pair = pairs.pop()
        whole = (*last_pair.made, *free, *rest)
        pairs.append(Pair(last_pair.function, last_pair.origin, last_pair.name, last_pair.source, whole))
    return Sides(text, tuple(pairs), kernels)


def _span(definition: ast.FunctionDef) -> tuple[int, int]:
    """The first and the last line of a definition, decorators included."""
    first = min([definition.lineno, *(one.lineno for one in definition.decorator_list)])
    return first, definition.end_lineno or definition.lineno


def is_kernel(part: Part) -> bool:
    """Whether a part of an output is a kernel, which a derivative runs, and no derivative itself."""
    return part.name not in part.facts.module.making


def _derivative_lines(
    lines: Sequence[str], first: int, part: Part, parts: Mapping[str, Part], sizes: Sizes
) -> list[Line]:
    """The lines of a derivative, or of a kernel."""
    facts = part.facts
    kernels = [name for name in parts if is_kernel(parts[name])]
    spelled = placed_lines(part.tree)
    assert len(spelled) == len(lines), f"{part.name} has {len(lines)} lines, and {len(spelled)} places"
    known = starts(facts)
    ends = {id(node): number for number, (_, node) in enumerate(spelled, first)}
    run: dict[int, list[str]] = {}
    made = []
    for number, (line, (_, node)) in enumerate(zip(lines, spelled, strict=True), first):
        name = "" if _makes_stack(node) else facts.pushes.get(node, "")
        known_as = [one for one in facts.recorded if name and one.partition("[")[0] == name]
        kept = tuple(_kept_under_name(one, facts, sizes) for one in known_as)
        for kernel in (k for k in kernels if k != part.name and re.search(rf"\b{k}\b", line)):
            run.setdefault(ends[id(node)], []).append(kernel)
        made.append(Line(number, line, _group(node, known) if line.strip() else 0, kept=kept))
    return [replace(line, kernels=tuple(run.get(line.number, ()))) for line in made]


def _group(node: Node, known: Mapping[int, int]) -> int:
    """The line of the user's text in which the statement begins that a generated one comes from."""
    return 0 if isinstance(node, gast.FunctionDef) else known.get(getattr(node, "lineno", 0), 0)


def _makes_stack(node: Node) -> bool:
    return isinstance(node, gast.Assign) and isinstance(node.value, gast.List)


def _kept_under_name(name: str, facts: Facts, sizes: Sizes) -> KeptValue:
    """What is recorded under a name."""
    record = facts.recorded[name]
    value = plain_spelling(record.value)
    size = sizes.get((value, record.line), sizes.get((value, 0)))
    return KeptValue(record.value, _size_text(name, facts) if size is None else spelled_size(size), record.needed)


def plain_spelling(value: str) -> str:
    """A whole array that is kept as `u[...]` by one text, as `u` by another."""
    return value.removesuffix("[...]")


def starts(facts: Facts) -> dict[int, int]:
    """For each line of a function the line in which its innermost statement begins."""
    tree = facts.source.tree
    found: dict[int, int] = dict.fromkeys(range(tree.lineno, _end_of_signature(tree) + 1), tree.lineno)
    for node in statements(tree.body):
        if not hasattr(node, "lineno"):
            continue
        last = node.body[0].lineno - 1 if isinstance(node, COMPOUND) else node.end_lineno
        for line in range(node.lineno, max(node.lineno, last) + 1):
            found[line] = node.lineno
    return found


def _end_of_signature(tree: Node) -> int:
    return int(max([tree.lineno, *(n.lineno for n in gast.walk(tree.args) if hasattr(n, "lineno"))]))


def _cite_kernel_lines(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines of a kernel: those of its C belong to the line that is cited above them."""
    made, group, within = [], 0, False
    for line in lines:
        if line.text.count('"""') % 2:
            within, group = not within, 0
        found = CITED.match(line.text)
        group = int(found[1]) if found else group
        known = group if within and line.text.strip() else line.group
        made.append(Line(line.number, line.text, known, line.role, line.why, line.kept))
    return tuple(made)


def _source(facts: Facts, sizes: Sizes) -> list[Line]:
    """The lines of a function: what carries the derivative, what is recorded and how large that is."""
    tree, group, remarks = facts.source.tree, starts(facts), _remarks(facts)
    last = max([tree.lineno, *(getattr(n, "end_lineno", None) or 0 for n in gast.walk(tree))])
    kept: dict[int, list[KeptValue]] = {}
    for name, record in facts.recorded.items():
        kept.setdefault(record.line, []).append(_kept_under_name(name, facts, sizes))
    made = []
    for number in range(tree.lineno, last + 1):
        text = facts.source.lines[number - 1].rstrip()
        own = group.get(number, 0) if text and number not in remarks else 0
        known = facts.lines.get(own, {})
        role = "" if not known or own == 0 else "active" if "active" in known else "inactive"
        why = next(iter(known)) if role == "inactive" else ""
        made.append(Line(number, text, own, role, why, tuple(kept.get(number, ()))))
    return made


def _remarks(facts: Facts) -> set[int]:
    """Lines that hold nothing but a comment."""
    return {n for n in facts.source.comments if facts.source.lines[n - 1].lstrip().startswith("#")}


def spelled_size(sizes: Sequence[int]) -> str:
    """Bytes as people read them, of one trip and of how many there were.

    >>> spelled_size([24, 24, 24]), spelled_size([8]), spelled_size([])
    ('24 bytes x 3', '8 bytes', 'no trip')
    """
    if not sizes:
        return "no trip"
    trips = f" x {len(sizes)}" if len(sizes) != 1 else ""
    return f"{max(sizes):,} bytes{trips}"


def _size_text(name: str, facts: Facts) -> str:
    """What the text tells of the size of something recorded: of which arguments it is, and how often."""
    kept_in, _, place = name.partition("[")
    for node in (n for n, kept in facts.pushes.items() if kept == kept_in):
        stacked = isinstance(node, gast.Expr) and bool(node.value.args)
        if not stacked and (not isinstance(node, gast.Assign) or _makes_stack(node)):
            continue
        value = node.value.args[0] if stacked else node.value
        size = _size(value.elts[int(place[:-1])] if place else value, facts)
        return ", ".join([*([size] if size else []), *(["each trip"] if stacked else [])])
    return ""


def _size(value: Node, facts: Facts) -> str:
    if isinstance(value, gast.Call) and not value.args and isinstance(value.func, gast.Attribute):
        value = value.func.value  # of a copy
    spec = facts.value_spec.get(value.id) if isinstance(value, gast.Name) else None
    if spec is not None and spec.scalar:
        return "one number"
    known = [] if spec is None else sorted(spec.shape)
    return (
        f"as large as {' with '.join(known)}"
        if known and all(k in facts.kinds or k in facts.wrt for k in known)
        else ""
    )
