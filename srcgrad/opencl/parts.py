"""Writes into parts of arrays as statements of a group: `a[1:-1] += e` becomes `a_part += e` of the kernel.

All writes of a group are into one array, and come last: what the kernel reads, it has read before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import gast

from srcgrad.core.expressions import index_rank, is_basic
from srcgrad.core.facts import Facts
from srcgrad.core.trees import Node, at, name

if TYPE_CHECKING:
    from srcgrad.opencl.groups import Group


def take_write(node: Node, group: Group) -> bool:
    """Make a write part of a group, if it is one into a part of an array that the kernel may write."""
    added = isinstance(node, gast.AugAssign)
    place = node.target if added else node.targets[0]
    if added and not isinstance(node.op, gast.Add | gast.Sub):
        return False
    if not isinstance(place.value, gast.Name) or not is_part(place, group.facts):
        return False
    base = place.value.id
    if any(other != base for other in group.writes):
        return False
    made = group.operand(node.value)
    group.printer().text(made)
    part = group.argument(gast.Subscript(value=place.value, slice=place.slice, ctx=gast.Load()))
    if added:
        value = made if isinstance(node.op, gast.Add) else gast.UnaryOp(gast.USub(), made)
        statement = at(gast.AugAssign(name(part.id, gast.Store()), gast.Add(), value), node)
        written = at(gast.AugAssign(name(part.id, gast.Store()), node.op, made), node)
        group.augmented[statement] = written
    else:
        whole = gast.Subscript(name(part.id), gast.Constant(value=..., kind=None), gast.Store())
        statement = at(gast.Assign([whole], made, None), node)
    group.statements.append(statement)
    group.writes.append(base)
    group.operations += 1
    return True


def is_part(place: Node, facts: Facts) -> bool:
    """Whether an index gives a part of an array, and no number, list or copy."""
    integers = frozenset(facts.integers)
    parts = place.slice.elts if isinstance(place.slice, gast.Tuple) else [place.slice]
    if not is_basic(place.slice, integers):
        return False
    if len(parts) > 1 and all(isinstance(part, gast.Slice) for part in parts):
        return True
    rank = _rank(place.value.id, facts)
    return rank > 0 and bool(index_rank(place.slice, rank, integers))


def is_copy(node: Node, facts: Facts) -> bool:
    """Whether an expression is `a[1:-1].copy()`, or `a.copy()` of what is known to be an array."""
    if not isinstance(node, gast.Call) or node.args or node.keywords or not isinstance(node.func, gast.Attribute):
        return False
    of = node.func.value
    if node.func.attr != "copy":
        return False
    if isinstance(of, gast.Subscript):
        return isinstance(of.value, gast.Name) and is_part(of, facts)
    return isinstance(of, gast.Name) and _rank(of.id, facts) > 0


def _rank(array: str, facts: Facts) -> int:
    """The rank of an array or of the adjoint of one; 0 where it is not known."""
    spec = facts.value_spec.get(facts.adjoint_of.get(array, array))
    return 0 if spec is None else spec.ndim or 0


def written_by(node: Node) -> str:
    """The argument into which a statement of a kernel writes; empty for one that binds a name."""
    if isinstance(node, gast.AugAssign):
        return str(node.target.id)
    place = node.targets[0]
    return str(place.value.id) if isinstance(place, gast.Subscript) else ""
