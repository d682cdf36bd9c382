"""The first statement of a text that was made for declared arguments: a check of them."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from srcgrad.analyse.annotations import FLOATING, is_declared
from srcgrad.facts import Facts, Kind
from srcgrad.front.webs import parameters
from srcgrad.trees import Block, Node, name, statement

_WIDTH = 72


def check(kinds: dict[str, Kind], facts: Facts) -> Block:
    """`check_shapes((x, w), "x: n d; w: d")`: what was declared of the arguments, if anything was."""
    if facts.called or facts.module.inline or facts.module.blocks:
        return []  # another text has seen to it, or will
    kinds = {p: kinds[p] for p in parameters(facts.source.tree) if p in kinds}
    parts = [part for p, kind in kinds.items() if is_declared(kind) for part in _parts(p, kind)]
    if not parts:
        return []
    if all(kind.tag == "scalar" and kind.dtype == FLOATING for kind in kinds.values() if is_declared(kind)):
        return [_check_numbers([parameter for parameter, kind in kinds.items() if is_declared(kind)])]
    made = statement(f"{facts.library('check_shapes')}()")
    lines = ["float64"] if facts.module.double else []
    for spelled in parts:
        if lines and len(lines[-1]) + len(spelled) < _WIDTH:
            lines[-1] += f"; {spelled}"
        else:
            lines.append(spelled)
    values = gast.Tuple(elts=[name(p) for p, kind in kinds.items() if is_declared(kind)], ctx=gast.Load())
    made.value.args = [values, *(gast.Constant(value=line, kind=None) for line in lines)]
    return [made]


def _check_numbers(declared: list[str]) -> Node:
    """The check of numbers alone, which needs no import."""
    each = declared[0] if len(declared) == 1 else "value"
    test = f"isinstance({each}, (int, float))"
    if len(declared) > 1:
        test = f"all({test} for value in ({', '.join(declared)}))"
    spelled = f"{', '.join(declared[:-1])} and {declared[-1]} are" if len(declared) > 1 else f"{each} is"
    return statement(f"if not {test}:\n    raise TypeError('E5027 {spelled} declared float')")


def _parts(label: str, kind: Kind) -> Iterator[str]:
    """What is declared of a value, and of the items of a container."""
    if kind.tag in ("tuple", "list", "dict"):
        keys = ", ".join(repr(key) for key, _ in kind.items) if kind.tag == "dict" else len(kind.items)
        yield f"{label}: {kind.tag}[{keys}]"
        for key, part in kind.items:
            yield from _parts(f"{label}[{key!r}]", part)
    elif kind.tag in ("scalar", "array") and (kind.dtype or kind.complex or kind.shape is not None):
        dtype = "complex" if kind.complex else kind.dtype if kind.dtype != FLOATING else ""
        lengths = "float" if kind.tag == "scalar" else " ".join(kind.shape or ()) or "()"
        yield f"{label}: {f'{dtype} {lengths}'.strip()}"
