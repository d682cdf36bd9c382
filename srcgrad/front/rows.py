"""Which expressions are views of an array, rows that are written into, writes into a part of a part."""

from __future__ import annotations

from dataclasses import dataclass

import gast
import numpy as np

from srcgrad.facts import Facts
from srcgrad.front.resolve import binding_of
from srcgrad.indices import is_basic
from srcgrad.trees import Block, Node, at, expression, is_write, name, part_written, root, statements, stores, written

FUNCTIONS = {np.transpose: "transpose", np.swapaxes: "swapaxes", np.squeeze: "squeeze"}
METHODS = tuple(FUNCTIONS.values())


@dataclass
class Views:
    """What is known of one function while its views are spelled out."""

    facts: Facts
    function: Node
    integers: frozenset[str]

    def order(self) -> list[Node]:
        """All statements in the order of the text."""
        return list(statements(self.function.body))


def base_of(value: Node, work: Views) -> str | None:
    """The array of which an expression is a view for sure; None where it may be a copy, or a number."""
    facts = work.facts
    if isinstance(value, gast.Name):
        known = value.id in facts.local and not facts.lists.get(value.id) and value.id not in facts.functions
        kind = facts.kinds.get(value.id)
        return value.id if known and (kind is None or kind.tag in ("array", "unknown")) else None
    if isinstance(value, gast.Subscript):
        if isinstance(value.slice, gast.Tuple) and not value.slice.elts:
            return None  # `a[()]` of an array without axes is a number
        return base_of(value.value, work) if is_basic(value.slice, work.integers) else None
    if isinstance(value, gast.Attribute):
        return base_of(value.value, work) if value.attr in ("T", "mT") else None
    if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and not value.keywords:
        if value.func.attr in METHODS and binding_of(value.func, facts, facts.local) is None:
            return base_of(value.func.value, work)
    return None


def rows(block: Block, work: Views) -> None:
    """`for row in a`, where the row is written into, counts: `for i in range(len(a))`, with `row = a[i]`."""
    for node in statements(block):
        if (
            not isinstance(node, gast.For)
            or not isinstance(node.iter, gast.Name)
            or not isinstance(node.target, gast.Name)
        ):
            continue
        row, array = node.target.id, node.iter.id
        inner = list(statements(node.body))
        changed = {w for n in inner if is_write(n) for w in written(n)}
        if not changed & {row, array} or base_of(node.iter, work) is None:
            continue
        if any(array in stores(n) and not is_write(n) for n in inner):
            raise work.facts.refuse(
                node.iter,
                "E5010",
                f"the loop runs over `{array}`, which its body binds anew and writes into",
                f"give what the loop runs over a name of its own: `rows = {array}.copy()`",
            )
        count = work.facts.names.fresh("i")
        work.facts.local |= {count}
        work.integers |= {count}
        bind = at(gast.Assign([name(row, gast.Store())], expression(f"{array}[{count}]"), None), node)
        work.facts.foreign[bind] = work.facts.foreign[node] = None
        node.target = name(count, gast.Store())
        node.iter = at(expression(f"range(len({array}))"), node.iter)
        node.body = [bind, *node.body]


def check_target(node: Node, work: Views) -> bool:
    """A write into a part of a part must reach the array: each part before the last is a view."""
    if not is_write(node):
        return False
    part = part_written(node)
    if isinstance(part.value, gast.Name):
        return False
    base = root(part)
    if base_of(part.value, work) is None:
        raise work.facts.refuse(
            part,
            "E5010",
            f"a write into a part of a part of `{'an array' if base is None else base.id}`, which may be a copy",
            "write into the array itself, with one index: `a[i, j] = e`",
        )
    return True
