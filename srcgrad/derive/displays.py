"""Displays as operands, `np.concatenate([a, b])`: each item gets its part of the adjoint."""

from __future__ import annotations

import gast

from srcgrad.analyse.complexes import note_complex
from srcgrad.derive.pulled import Pair
from srcgrad.facts import Facts, copied
from srcgrad.trees import Block, Node, assign, expression, name


def sequence(display: Node, value: Node, facts: Facts, shared: Block) -> list[Pair]:
    """Adjoints of the items of a display, one per item of `value`."""
    if isinstance(value, gast.Tuple) and isinstance(display, gast.Tuple | gast.List):
        parts = zip(display.elts, value.elts, strict=True)
        return [pair for item, part in parts if is_active(item, facts) for pair in _of_part(item, part, facts, shared)]
    held = facts.names.fresh(f"t{len(facts.temporaries) + 1}")
    facts.temporaries[held] = "t"
    shared.append(assign(held, value))
    note_complex(held, value, facts)
    return items(display, name(held), facts)


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
