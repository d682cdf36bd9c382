"""Parts of arrays that nothing reads any more need not come back: their records go, too.

A loop that fills an array, `h[t + 1] = f(h[t])`, has every part that the backward half reads standing in the array
as it is. What a write replaced comes back only if something read later may overlap it; and a copy of a part is made
only if what the part stands in is written into while the copy is needed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import gast
import numpy as np

from srcgrad.analyse.regions import Integers, Where, apart
from srcgrad.derive.program import Program, rebuilt
from srcgrad.facts import Facts
from srcgrad.improve.dead import dead
from srcgrad.improve.outlines import indices, is_fitted, matters, outline, wanted
from srcgrad.indices import index_rank, is_basic
from srcgrad.rules import rule_of
from srcgrad.trees import (
    COMPOUND,
    Block,
    Node,
    children,
    header,
    is_write,
    part_written,
    statements,
    stores,
    target,
    written,
)

_NEW = ("array", "sum", "mean", "dot", "outer", "matmul")  # beside what works element by element


@dataclass(frozen=True)
class Read:
    """One place where elements of an array are read: at which index, or None for all of it."""

    array: str
    index: Node | None
    where: Where


@dataclass
class Text:
    """The backward half as places, and the reads of arrays that the function writes into."""

    facts: Facts
    places: dict[Node, Where] = field(default_factory=dict)
    shown: dict[str, list[Read]] = field(default_factory=dict)  # name -> the parts of arrays that it shows
    reads: list[Read] = field(default_factory=list)


def unread(program: Program, facts: Facts) -> Program:
    """Drop what brings back elements that nothing reads later, and what only that needed."""
    restores = [n for n in statements(program.backward) if n in facts.restores and is_write(n)]
    if facts.generated or not restores:
        return program
    known = integers(program)
    text = read_text(program, facts)
    gone = {node: None for node in restores if _is_unread(node, text, known)}
    if gone:
        keep = {node: None for node in statements(program.block) if node not in gone}
        program.backward = rebuilt(program.backward, keep)
        return dead(program, facts)
    return program


def integers(program: Program) -> Integers:
    """Names that hold one value for the whole backward half, and names that only its loops bind."""
    counts: dict[str, int] = dict.fromkeys(program.parameters, 1)
    inside = {n for loop in statements(program.forward) if isinstance(loop, gast.For | gast.While) for n in _in(loop)}
    for node in statements(program.forward):
        for name in stores(node):
            counts[name] = counts.get(name, 0) + (2 if node in inside or isinstance(node, gast.For) else 1)
    loops: set[str] = set()
    other: set[str] = set()
    for node in statements(program.backward):
        (loops if isinstance(node, gast.For) else other).update(stores(node))
    fixed = frozenset(name for name, count in counts.items() if count == 1 and name not in loops | other)
    return Integers(fixed, frozenset(loops - other))


def _in(loop: Node) -> Block:
    return statements([*loop.body, *(getattr(loop, "orelse", None) or [])])


def read_text(program: Program, facts: Facts) -> Text:
    """Where the backward half, and the result, read which parts."""
    text = Text(facts)
    _place([*program.backward, program.result], (), text)
    needed = wanted(list(text.places), facts)
    for node, where in text.places.items():
        if node in facts.restores and is_write(node):
            continue
        if matters(node, needed):
            _note(node, where, text)
        else:
            for part in indices(node.value):
                _expression(part, where, text)
    return text


def _place(block: Block, loops: tuple[Node, ...], text: Text) -> None:
    for node in block:
        text.places[node] = Where(loops, len(text.places))
        if isinstance(node, COMPOUND):
            inner = (*loops, node) if isinstance(node, gast.For | gast.While) else loops
            _place(node.body, inner, text)
            _place(getattr(node, "orelse", None) or [], inner, text)


def _note(node: Node, where: Where, text: Text) -> None:
    before = len(text.reads)
    for part in header(node):
        _expression(part, where, text)
    bound = target(node)
    if bound is not None and may_show(node.value, text.facts):
        text.shown.setdefault(bound, []).extend(text.reads[before:])
        if _is_part(node.value, text.facts):
            del text.reads[before:]  # elements are read where the view is
            _expression(node.value.slice, where, text)
    elif bound is None and isinstance(node, gast.Assign | gast.For) and not written(node):
        for name in stores(node):
            text.shown.setdefault(name, []).extend(text.reads[before:])


def _expression(node: Node, where: Where, text: Text) -> None:
    """Note the reads below an expression."""
    if isinstance(node, gast.Name):
        if isinstance(node.ctx, gast.Load):
            _name(node.id, None, where, text)
        return
    if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name):
        basic = is_basic(node.slice, frozenset(text.facts.integers))
        if isinstance(node.ctx, gast.Load):
            _name(node.value.id, node.slice if basic else None, where, text)
        _expression(node.slice, where, text)
        return
    shaped = outline(node, text.facts)
    for part in children(node):
        if part is not shaped or part is None:
            _expression(part, where, text)
        else:
            for read in indices(part):
                _expression(read, where, text)


def _name(name: str, index: Node | None, where: Where, text: Text) -> None:
    facts = text.facts
    if name in facts.mutable:
        text.reads.append(Read(name, index, where))
    for read in text.shown.get(name, []):
        same = read.where.loops == where.loops[: len(read.where.loops)]
        text.reads.append(Read(read.array, read.index if same else None, where))
    if name in facts.viewed and name not in text.shown:
        text.reads += [Read(array, None, where) for array in facts.mutable]


def _is_part(value: Node, facts: Facts) -> bool:
    """Whether a value is a view of a part of an array that the function writes into."""
    if not (isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name)):
        return False
    return value.value.id in facts.mutable and is_basic(value.slice, frozenset(facts.integers))


def may_show(value: Node, facts: Facts) -> bool:
    """Whether a value may be a view of an array that it reads: arithmetic, copies and single elements are none."""
    if isinstance(value, gast.BinOp | gast.UnaryOp | gast.Compare | gast.Constant):
        return False
    if is_fitted(value, facts):
        return may_show(value.args[0], facts)  # of the other one only the shape is looked at
    if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute):
        if isinstance(value.func.value, gast.Name) and value.func.value.id == facts.imports.get("np"):
            rule = rule_of(getattr(np, value.func.attr, None))
            return value.func.attr not in _NEW and (rule is None or rule.kind != "elementwise")
        return bool(value.func.attr != "copy")
    if isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name):
        spec = facts.value_spec.get(value.value.id)
        return spec is None or index_rank(value.slice, spec.ndim, frozenset(facts.integers)) != 0
    return True


def _is_unread(node: Node, text: Text, known: Integers) -> bool:
    """Whether nothing that may run after a restore reads what it brings back."""
    part, array = part_written(node), written(node)[0]
    where = text.places[node]
    exact = isinstance(part.value, gast.Name) and is_basic(part.slice, frozenset(text.facts.integers))
    if array in text.facts.swapped or array not in text.facts.mutable or not exact:
        return False  # of lists, which are not among the mutable arrays, reads are not noted
    return all(_is_apart(part.slice, where, read, known) for read in text.reads if read.array == array)


def _is_apart(index: Node, where: Where, read: Read, known: Integers) -> bool:
    whole = gast.Constant(value=Ellipsis, kind=None)
    return apart(index, where, whole if read.index is None else read.index, read.where, known)
