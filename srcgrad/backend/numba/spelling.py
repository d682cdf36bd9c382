"""Texts in the spelling that Numba takes.

Spellings that Numba takes: it knows no `reversed`, and no `np.array` of an array.

Items of ranges by their place: Numba knows `trips.start`, but not `trips[place]`.

Dtypes of elements: where NumPy computes in float32 and where in float64, and how compiled code is told.

Functions of numbers: `math.cos(x)` in compiled code, where `np.cos(x)` of a number takes several times as long.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any  # operations are arbitrary functions

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.backend.numba.value_types import DOUBLE, ONE, SINGLE, WEAK, Form, Piece, is_library, is_number, numbers
from srcgrad.core.facts import Facts
from srcgrad.core.meanings import function_called, meant
from srcgrad.core.rules import rule_of
from srcgrad.core.trees import (
    COMPOUND,
    Block,
    Node,
    at,
    copy,
    expression,
    header,
    literal_node,
    loads,
    name,
    statements,
    stores,
    target,
    walk,
)
from srcgrad.derive.program import Program


def respell_for_numba(program: Program, facts: Facts) -> Program:
    """Spell `reversed(range(n))` as `range(n - 1, -1, -1)`, `reversed(x)` as `x[::-1]`, `np.array(x)` as `np.copy(x)`.

    `a[1:] += a[:-1]`, which Numba runs element by element, reading what it has written, is `a[1:] = a[1:] + a[:-1]`;
    `a[...]` is `a[:]`. What Numba compiles for arrays only has another name: `np.zeros_like(x)` is `zeros_like(x)`,
    `np.broadcast_to(e, np.shape(x))` is `spread(e, x)`.
    """
    for item in [item for node in statements(program.block) for part in header(node) for item in walk(part)]:
        if isinstance(item, gast.Subscript) and isinstance(item.slice, gast.Constant) and item.slice.value is ...:
            item.slice = gast.Slice(None, None, None)
    for block in blocks(program):
        block[:] = [_separate_update(node) for node in block]
    for node in statements(program.block):
        if isinstance(node, gast.For) and is_call(node.iter, "reversed", facts):
            [walked] = node.iter.args
            node.iter = _backwards(walked, facts)
        elif not isinstance(node, gast.For | gast.While | gast.If):
            for item in walk(node):
                _respell_copy(item, facts)
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


def _separate_update(node: Node) -> Node:
    """An update of a part, or by a view, with the new values computed before one is stored."""
    if not isinstance(node, gast.AugAssign):
        return node
    if has_slice(node.target):
        read = copy(node.target)
        read.ctx = gast.Load()
        return at(gast.Assign([node.target], gast.BinOp(read, node.op, node.value), None), node)
    if isinstance(node.target, gast.Name) and _is_view(node.value):
        node.value = gast.BinOp(literal_node(1), gast.Mult(), node.value)
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


def _calls(node: Node, facts: Facts, function: Any, count: int) -> bool:
    """Whether an expression is a call of a function of NumPy with some number of arguments."""
    return function_called(node, facts) is function and len(node.args) == count and not node.keywords


def _respell_copy(item: Node, facts: Facts) -> None:
    if _calls(item, facts, np.array, 1) and _is_array(item.args[0], facts):
        item.func = gast.Attribute(value=item.func.value, attr="copy", ctx=gast.Load())
    elif _calls(item, facts, np.reshape, 2) and not _calls(item.args[0], facts, np.ascontiguousarray, 1):
        item.args[0] = expression(f"{facts.library('np')}.ascontiguousarray(x)", x=item.args[0])
    elif _calls(item, facts, np.matmul, 2):
        item.func = name(facts.library("product"))
    elif _calls(item, facts, np.broadcast_to, 2) and _calls(item.args[1], facts, np.shape, 1):
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
    axis = places[0] if places else words.get("axis", literal_node(None))
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
    known = [_literal_integer(part) for part in parts]
    if None not in known and known[2]:
        turned = range(*known)[::-1]  # type: ignore[arg-type]
        return expression(f"range({turned.start}, {turned.stop}, {turned.step})")
    last = expression("first + (len(whole) - 1) * step", first=first, whole=walked, step=step)
    return expression("range(last, first - step, -step)", last=last, first=copy(first), step=copy(step))


def _literal_integer(node: Node) -> int | None:
    """The integer that a literal spells; None for anything else."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        inner = _literal_integer(node.operand)
        return None if inner is None else -inner
    return node.value if isinstance(node, gast.Constant) and type(node.value) is int else None


def less_one(node: Node) -> Node:
    """`n - 1`, or the number if it is one.

    >>> less_one(literal_node(5)).value, type(less_one(expression("n"))).__name__
    (4, 'BinOp')
    """
    if isinstance(node, gast.Constant) and type(node.value) is int:
        return literal_node(node.value - 1)
    return expression("n - 1", n=node)


def decorators(facts: Facts) -> Block:
    """What makes Numba compile a function: indices are looked at, unless it is known that all are inside."""
    taken = facts.module.given_of.get(facts.source.name)
    inside = "inside" in facts.module.looped or (taken is not None and taken.inside and not facts.called)
    checks = "" if inside else ", boundscheck=True"
    return [expression(f'{facts.library("njit", "numba.njit")}(error_model="numpy"{checks})')]


def ranges(program: Program, facts: Facts) -> Program:
    """Spell `trips[place]` as `place` for `trips = range(n)`, as `2 + place * 3` for `trips = range(2, n, 3)`.

    Loops with `break` or `return` read their counter so. A start that is no number is read at the range,
    `trips.start + place`, since its names may be bound anew by then.
    """
    nodes = list(statements(program.block))
    bound = [each for node in nodes for each in stores(node)]
    plain = [node for node in nodes if target(node) is not None]
    calls = {str(target(node)): node.value for node in plain if is_call(node.value, "range", facts)}
    made = {held: value for held, value in calls.items() if bound.count(held) == 1}
    fixed = {each for each in program.parameters if each not in bound}
    for item in [item for node in nodes for part in header(node) for item in walk(part)] if made else []:
        for field, value in gast.iter_fields(item):
            if isinstance(value, list):
                value[:] = [_item(one, made, fixed) for one in value]
            else:
                setattr(item, field, _item(value, made, fixed))
    return program


def _item(node: Node, made: dict[str, Node], fixed: set[str]) -> Node:
    """What an item of a range is, or the node itself."""
    if not isinstance(node, gast.Subscript) or not isinstance(node.value, gast.Name) or node.value.id not in made:
        return node
    if not isinstance(node.slice, gast.Name):  # a slice; a negative place counts from the end, and a loop has none
        return node
    held, parts = node.value.id, made[node.value.id].args
    first = _part(parts[0], held, "start", fixed) if len(parts) > 1 else literal_node(0)
    step = _part(parts[2], held, "step", fixed) if len(parts) > 2 else literal_node(1)
    place = name(node.slice.id)
    moved = place if _is(step, 1) else expression("place * step", place=place, step=step)
    if _is(step, -1):
        return expression("first - place", first=first, place=place)
    return moved if _is(first, 0) else expression("first + moved", first=first, moved=moved)


def _part(node: Node, held: str, which: str, fixed: set[str]) -> Node:
    """A number, or arithmetic of arguments that nothing binds, as it stands; anything else is read at the range."""
    plain = gast.Constant | gast.Name | gast.BinOp | gast.UnaryOp | gast.operator | gast.unaryop | gast.Load
    if all(isinstance(item, plain) for item in walk(node)) and set(loads(node)) <= fixed:
        return copy(node)
    return expression(f"{held}.{which}")


def _is(node: Node, number: int) -> bool:
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        return _is(node.operand, -number)
    return isinstance(node, gast.Constant) and type(node.value) is int and node.value == number


def common_dtype(reals: Iterable[str]) -> str:
    """The dtype of what several make together.

    >>> common_dtype(["weak", "single"]), common_dtype(["single", "double", "weak"]), common_dtype(["weak", "weak"])
    ('single', 'double', 'weak')
    """
    found = set(reals)
    return DOUBLE if DOUBLE in found else SINGLE if SINGLE in found else WEAK


def leaf(held: str, form: Form) -> Piece:
    """An array by its name."""

    def element(index: list[Node]) -> Node:
        parts = [literal_node(0) if axis == ONE else copy(one) for axis, one in zip(form.axes, index, strict=True)]
        return gast.Subscript(name(held), parts[0] if len(parts) == 1 else gast.Tuple(parts, gast.Load()), gast.Load())

    return Piece(form.axes, form.real, element, leaf=held)


def number(node: Node, real: str = WEAK) -> Piece:
    """A number by its name, or as it is spelled."""
    return Piece((), real, lambda _: copy(node))


def strong(piece: Piece) -> Piece:
    """What a function of NumPy gives, which is a number of NumPy also where it was given those of Python."""
    return replace(piece, real=DOUBLE) if piece.real == WEAK else piece


def convert_piece(piece: Piece, real: str, facts: Facts) -> Piece:
    """A piece of another dtype. Compiled code takes all numbers for float64, and widens what meets it by itself."""
    if real == piece.real or (real, piece.real) in ((DOUBLE, WEAK), (WEAK, DOUBLE)):
        return replace(piece, real=real)
    return Piece(piece.axes, real, lambda index: cast(piece.at(index), real, facts))


def dtype_function(node: Node) -> str:
    """What `np.float32` and `np.float64` are called here; an empty string for any other dtype."""
    return {"float32": SINGLE, "float64": DOUBLE}.get(getattr(node, "attr", ""), "")


def cast(node: Node, real: str, facts: Facts) -> Node:
    """An element or a number in another dtype."""
    return expression(f"{_spell_dtype(real, facts)}(x)", x=node)


def dtype(real: str, facts: Facts) -> list[Node]:
    """The argument by which an array gets its dtype, where it needs one."""
    return [expression(_spell_dtype(real, facts))] if real == SINGLE else []


def widen_array(node: Node, facts: Facts) -> Node:
    """An array of float32 as one of float64: compiled products of matrices take one dtype."""
    return expression(f"x.astype({_spell_dtype(DOUBLE, facts)})", x=node)


def _spell_dtype(real: str, facts: Facts) -> str:
    return f"{facts.library('np')}.{'float32' if real == SINGLE else 'float64'}"


def scalars(program: Program, facts: Facts) -> Program:
    """Spell functions of what is known to be a real number as those of `math`, and `np.divide(x, y)` as `x / y`.

    Of numbers, `sum_to(e, x)` is `e`, and no seed of one need be looked at.
    """
    known = numbers(program, facts)
    program.backward = [node for node in program.backward if not _is_seed_check(node, known, facts)]
    for node in [*statements([*program.forward, *program.backward]), program.result]:
        for part in header(node):
            for item in list(walk(part)):
                _respell(item, known, facts)
    return program


def _is_seed_check(node: Node, known: frozenset[str], facts: Facts) -> bool:
    """`check_seed(1.0, y)` of a number."""
    call: Node = node.value if isinstance(node, gast.Expr) else None
    checks = function_called(call, facts) is runtime.check_seed
    return checks and all(is_number(part, known, facts) for part in call.args)


def _respell(item: Node, known: frozenset[str], facts: Facts) -> None:
    for key, child in gast.iter_fields(item):
        if isinstance(child, list):
            child[:] = [_respell_for_numbers(one, known, facts) for one in child]
        elif isinstance(child, gast.Call):
            setattr(item, key, _respell_for_numbers(child, known, facts))
    if not isinstance(item, gast.Call) or item.keywords or len(item.args) != 1:
        return
    rule = rule_of(_numpys(item, facts))
    if rule is not None and rule.numba.startswith("math.") and is_number(item.args[0], known, facts):
        spelled = rule.numba.removeprefix("math.").partition("(")[0]
        item.func = gast.Attribute(value=name(facts.library("math", math)), attr=spelled, ctx=gast.Load())


def _numpys(call: Node, facts: Facts) -> Any:
    """The function of NumPy that is called; None for any other."""
    narrow = any(kind.dtype == SINGLE for kind in facts.arguments.values())  # np.exp(2.0) makes float64 of float32
    ours = not narrow and isinstance(call.func, gast.Attribute) and meant(call.func.value, facts) is np
    return function_called(call, facts) if ours else None


def _respell_for_numbers(node: Node, known: frozenset[str], facts: Facts) -> Node:
    """`x / y` for `np.divide(x, y)`, and `e` for `sum_to(e, x)`, of numbers."""
    if not isinstance(node, gast.Call) or node.keywords or len(node.args) != 2:
        return node
    if not all(is_number(argument, known, facts) for argument in node.args):
        return node
    if function_called(node, facts) is runtime.sum_to:
        return _respell_for_numbers(node.args[0], known, facts)
    return gast.BinOp(node.args[0], gast.Div(), node.args[1]) if _numpys(node, facts) is np.divide else node
