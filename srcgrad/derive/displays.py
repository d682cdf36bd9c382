"""Displays as operands, `np.concatenate([a, b])`: each item gets its part of the adjoint."""

from __future__ import annotations

import gast

from srcgrad.analyse.adjoint_shapes import spec_of_tree
from srcgrad.analyse.complexes import note_complex
from srcgrad.derive.pulled import Pair
from srcgrad.facts import Facts, copied
from srcgrad.trees import Block, Node, assign, expression, name


def sequence(display: Node, value: Node, facts: Facts, shared: Block) -> list[Pair]:
    """Adjoints of the items of a display, one per item of `value`."""
    if isinstance(value, gast.Tuple) and isinstance(display, gast.Tuple | gast.List):
        parts = zip(display.elts, value.elts, strict=True)
        return [pair for item, part in parts if is_active(item, facts) for pair in _of_part(item, part, facts, shared)]
    first = _first(display, value, facts)
    if first is not None:
        return [first]
    held = facts.names.fresh(f"t{len(facts.temporaries) + 1}")
    facts.temporaries[held] = "t"
    shared.append(assign(held, value))
    note_complex(held, value, facts)
    return items(display, name(held), facts)


def _first(display: Node, value: Node, facts: Facts) -> Pair | None:
    """The first of several parts `split_like(g, (a, b), 1)`, if it is the only one wanted: `g[:, : a.shape[1]]`."""
    called = isinstance(value, gast.Call) and getattr(value.func, "id", "") == facts.imports.get("split_like")
    if not called or not isinstance(display, gast.Tuple | gast.List) or not isinstance(display.elts[0], gast.Name):
        return None
    first, *others = display.elts
    axis = value.args[2].value if len(value.args) == 3 and isinstance(value.args[2], gast.Constant) else 0
    rank, whole = spec_of_tree(first, facts).ndim, spec_of_tree(value.args[0], facts).ndim
    literal = len(value.args) < 4 and not value.keywords and type(axis) is int
    if not literal or rank is None or rank != whole or not 0 <= axis < rank or first.id not in facts.active:
        return None
    if any(is_active(item, facts) for item in others):
        return None
    part = f"g[{':, ' * axis}: item.shape[{axis}]]"
    return copied(first, facts), expression(part, g=value.args[0], item=copied(first, facts))


def _of_part(item: Node, value: Node, facts: Facts, shared: Block) -> list[Pair]:
    return [(copied(item, facts), value)] if isinstance(item, gast.Name) else sequence(item, value, facts, shared)


def items(display: Node, value: Node, facts: Facts) -> list[Pair]:
    """The parts of a display, each with its part of the adjoint."""
    found: list[Pair] = []
    if isinstance(display, gast.Dict):
        parts = [(copied(key, facts), item) for key, item in zip(display.keys, display.values, strict=True)]
    else:
        parts = [(gast.Constant(value=k, kind=None), item) for k, item in enumerate(display.elts)]
    for key, item in parts:
        part = expression("value[key]", value=copied(value, facts), key=key)
        if isinstance(item, gast.Name):
            if item.id in facts.active:
                found.append((copied(item, facts), part))
        elif isinstance(item, gast.Tuple | gast.List | gast.Dict):
            found += items(item, part, facts)
    return found


def is_active(argument: Node, facts: Facts) -> bool:
    """Whether an operand, or a part of it, carries a derivative."""
    if isinstance(argument, gast.Name):
        return argument.id in facts.active
    parts = getattr(argument, "elts", None) or getattr(argument, "values", None) or []
    return isinstance(argument, gast.Tuple | gast.List | gast.Dict) and any(is_active(a, facts) for a in parts)
