"""Spellings that Numba takes: it knows no `reversed`, and no `np.array` of an array."""

from __future__ import annotations

import gast
import numpy as np

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.numba.numbers import is_library
from srcgrad.trees import COMPOUND, Block, Node, at, constant, copy, expression, header, name, statements, stores, walk


def respelled(program: Program, facts: Facts) -> Program:
    """Spell `reversed(range(n))` as `range(n - 1, -1, -1)`, `reversed(x)` as `x[::-1]`, `np.array(x)` as `np.copy(x)`.

    `a[1:] += a[:-1]`, which Numba runs element by element, reading what it has written, is `a[1:] = a[1:] + a[:-1]`;
    `a[...]` is `a[:]`. What Numba compiles for arrays only has another name: `np.zeros_like(x)` is `zeros_like(x)`,
    `np.broadcast_to(e, np.shape(x))` is `spread(e, x)`.
    """
    for item in [item for node in statements(program.block) for part in header(node) for item in walk(part)]:
        if isinstance(item, gast.Subscript) and isinstance(item.slice, gast.Constant) and item.slice.value is ...:
            item.slice = gast.Slice(None, None, None)
    for block in blocks(program):
        block[:] = [_apart(node) for node in block]
    for node in statements(program.block):
        if isinstance(node, gast.For) and is_call(node.iter, "reversed", facts):
            [walked] = node.iter.args
            node.iter = _backwards(walked, facts)
        elif not isinstance(node, gast.For | gast.While | gast.If):
            for item in walk(node):
                _copied(item, facts)
    parts = [part for node in statements(program.block) for part in header(node)]
    own = {*program.parameters, *(one for node in statements(program.block) for one in stores(node))}
    for item in [item for part in [*parts, program.result] for item in walk(part)]:
        _along(item, own, facts)
    return program


def blocks(program: Program) -> list[Block]:
    """The blocks of both halves, outer ones first."""
    inner = [node for node in statements([*program.forward, *program.backward]) if isinstance(node, COMPOUND)]
    found = [getattr(node, field, None) or [] for node in inner for field in ("body", "orelse")]
    return [program.forward, program.backward, *(block for block in found if block)]


def _apart(node: Node) -> Node:
    """An update of a part, or by a view, with the new values computed before one is stored."""
    if not isinstance(node, gast.AugAssign):
        return node
    if has_slice(node.target):
        read = copy(node.target)
        read.ctx = gast.Load()
        return at(gast.Assign([node.target], gast.BinOp(read, node.op, node.value), None), node)
    if isinstance(node.target, gast.Name) and _is_view(node.value):
        node.value = gast.BinOp(constant(1), gast.Mult(), node.value)
    return node


def has_slice(node: Node) -> bool:
    """Whether an expression is a part of an array that has elements of its own: `a[1:]`, not `a[1]`."""
    return isinstance(node, gast.Subscript) and any(isinstance(item, gast.Slice) for item in walk(node.slice))


def _is_view(node: Node) -> bool:
    if isinstance(node, gast.Subscript):
        return has_slice(node)
    if isinstance(node, gast.Call):
        shown = node.func.attr if isinstance(node.func, gast.Attribute) else ""
        return shown in _VIEWS and isinstance((node.args or [node])[0], gast.Name | gast.Call)
    return isinstance(node, gast.Attribute) and node.attr == "T"


_VIEWS = ("reshape", "ravel", "transpose", "swapaxes")


def is_call(node: Node, called: str, facts: Facts) -> bool:
    """Whether an expression calls a builtin."""
    plain = isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and not node.keywords
    return plain and node.func.id == called and called not in facts.local


def _of_numpy(node: Node, facts: Facts, function: str, count: int) -> bool:
    """Whether an expression is a call of a function of NumPy with some number of arguments."""
    if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Attribute) or node.func.attr != function:
        return False
    library = isinstance(node.func.value, gast.Name) and node.func.value.id == facts.imports.get("np")
    return library and len(node.args) == count and not node.keywords


def _copied(item: Node, facts: Facts) -> None:
    if _of_numpy(item, facts, "array", 1) and _is_array(item.args[0], facts):
        item.func = gast.Attribute(value=item.func.value, attr="copy", ctx=gast.Load())
    elif _of_numpy(item, facts, "reshape", 2) and not _of_numpy(item.args[0], facts, "ascontiguousarray", 1):
        item.args[0] = expression(f"{facts.library('np')}.ascontiguousarray(x)", x=item.args[0])
    elif _of_numpy(item, facts, "matmul", 2):
        item.func = name(facts.library("product"))
    elif _of_numpy(item, facts, "broadcast_to", 2) and _of_numpy(item.args[1], facts, "shape", 1):
        item.func = name(facts.library("spread"))
        item.args[1] = item.args[1].args[0]


def _along(item: Node, own: set[str], facts: Facts) -> None:
    """`max_along(x, 0)` for `np.max(x, axis=0)` and `x.max(axis=0)`: Numba knows that of all elements only."""
    if not isinstance(item, gast.Call) or not isinstance(item.func, gast.Attribute) or item.func.attr not in _REDUCED:
        return
    words = {word.arg: word.value for word in item.keywords}
    library = isinstance(item.func.value, gast.Name) and is_library(item.func.value.id, np, facts)
    array, *places = item.args if library else [item.func.value, *item.args]
    known = library or not isinstance(array, gast.Name) or array.id in own
    if not known or not words.keys() <= {"axis", "keepdims"} or len(places) > 1 - ("axis" in words):
        return
    axis = places[0] if places else words.get("axis", constant(None))
    plain = getattr(axis, "value", ...) is None or item.func.attr == "sum"
    if plain and "keepdims" not in words:
        return
    item.func, item.keywords = name(facts.library(f"{item.func.attr}_along")), []
    item.args = [array, axis, *([words["keepdims"]] if "keepdims" in words else [])]


_REDUCED = ("max", "min", "sum", "mean")


def _is_array(node: Node, facts: Facts) -> bool:
    if isinstance(node, gast.Name):
        return node.id not in facts.containers
    return isinstance(node, gast.Subscript | gast.Call | gast.BinOp | gast.UnaryOp)


def _backwards(walked: Node, facts: Facts) -> Node:
    if not is_call(walked, "range", facts):
        return expression("walked[::-1]", walked=walked)
    parts = [copy(part) for part in walked.args]
    if len(parts) == 1:
        return expression("range(last, -1, -1)", last=less_one(parts[0]))
    if len(parts) == 2:
        return expression("range(last, before, -1)", last=less_one(parts[1]), before=less_one(parts[0]))
    first, _, step = parts
    known = [_whole(part) for part in parts]
    if None not in known and known[2]:
        turned = range(*known)[::-1]  # type: ignore[arg-type]
        return expression(f"range({turned.start}, {turned.stop}, {turned.step})")
    last = expression("first + (len(whole) - 1) * step", first=first, whole=walked, step=step)
    return expression("range(last, first - step, -step)", last=last, first=copy(first), step=copy(step))


def _whole(node: Node) -> int | None:
    """The integer that a literal spells; None for anything else."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        inner = _whole(node.operand)
        return None if inner is None else -inner
    return node.value if isinstance(node, gast.Constant) and type(node.value) is int else None


def less_one(node: Node) -> Node:
    """`n - 1`, or the number if it is one.

    >>> less_one(constant(5)).value, type(less_one(expression("n"))).__name__
    (4, 'BinOp')
    """
    if isinstance(node, gast.Constant) and type(node.value) is int:
        return constant(node.value - 1)
    return expression("n - 1", n=node)
