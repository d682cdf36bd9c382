"""`d[k] += e` of a list or dict: an item that is a number is bound anew, any other changes for all that hold it."""

from __future__ import annotations

from collections.abc import Iterable

import gast

from srcgrad.facts import UNKNOWN, Facts, copied
from srcgrad.front.webs import parameters
from srcgrad.trees import Block, Node, at, is_write, part_written, statement, statements, target, written


def items(function: Node, facts: Facts) -> Node:
    """Look at the items that are updated, where they are not known to be numbers."""
    if facts.updates:
        order = list(statements(function.body))
        given = {p for p in parameters(function) if not facts.kinds.get(p, UNKNOWN).items}
        held = dict.fromkeys(written(node)[0] for node in facts.updates)
        unknown = {one: None for one in held if one in given or not _holds_numbers(one, order, facts)}
        _look(function.body, unknown, facts)
    mixed = [n for n in statements(function.body) if isinstance(n, gast.AugAssign) and _is_mixed(n, facts)]
    if mixed:
        _look(function.body, dict.fromkeys(written(node)[0] for node in mixed), facts, mixed)
    return function


def _is_mixed(node: Node, facts: Facts) -> bool:
    """Whether `d[k] += e` updates what a name holds as a list in one place, and as another kind of value elsewhere."""
    held = getattr(getattr(node.target, "value", None), "id", "")
    kinds = [facts.kinds[one].tag for one in (held, facts.base.get(held, held)) if one in facts.kinds]
    return any(tag in ("list", "tuple", "dict") for tag in kinds)


def _holds_numbers(held: str, order: list[Node], facts: Facts) -> bool:
    """Whether all that goes into a list or dict is known to be a number."""
    kind = facts.kinds.get(facts.base.get(held, held))
    if kind is not None and any(part.tag != "scalar" for _, part in kind.items):
        return False
    for node in order:
        if target(node) == held:
            value = node.value
            parts = getattr(value, "elts", None) or getattr(value, "values", None)
            empty = isinstance(value, gast.List | gast.Dict) and not parts
            if node not in facts.copies and not empty and not all(_is_number(p, facts) for p in parts or [value]):
                return False
        elif held in written(node) and is_write(node) and node not in facts.updates:
            if not _is_number(node.value, facts):
                return False
        elif held in written(node) and isinstance(node, gast.Expr) and node.value.args:
            if not _is_number(node.value.args[-1], facts):
                return False
    return True


def _is_number(value: Node, facts: Facts) -> bool:
    if isinstance(value, gast.Constant):
        return isinstance(value.value, int | float)
    spec = facts.spec.get(value)
    return spec is not None and spec.scalar


def _look(block: Block, unknown: dict[str, None], facts: Facts, mixed: Iterable[Node] = ()) -> None:
    for position in range(len(block) - 1, -1, -1):
        node = block[position]
        for field in ("body", "orelse"):
            if getattr(node, field, None):
                _look(getattr(node, field), unknown, facts, mixed)
        if (node in facts.updates or node in mixed) and written(node)[0] in unknown:
            part = copied(part_written(node), facts)
            part.ctx = gast.Load()
            call = f"{facts.library('check_item')}(x)"
            if node in mixed:
                call = call.replace("(x)", f"(x, {written(node)[0]})")
            check = statement(call, x=part)
            facts.effects[check] = None
            facts.origin[check] = facts.origin.get(node, node)
            block.insert(position, at(check, node))
