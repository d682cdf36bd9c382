"""What a group knows to be numbers: a kernel is given them as such, and statements of numbers only stay Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import gast

from srcgrad.core.facts import copied
from srcgrad.core.trees import Node, at, children, loads, name
from srcgrad.opencl.lines import SCANS
from srcgrad.opencl.many import at as found_at
from srcgrad.opencl.many import is_of_shape, replace
from srcgrad.opencl.parts import is_copy

if TYPE_CHECKING:
    from srcgrad.opencl.groups import Group

_NO_SUMS = ("COUNT", "OTHERS", "SPREAD", "FILL", "AXIS", "ONLY", "SHARE", "NEAREST", *SCANS)


def take_number(node: Node, bound: str, deferred: set[str], group: Group) -> bool:
    """A number made of sums: the sums go to the kernel; the statement itself comes after it and reads them.

    The statement may read what is `deferred`, which comes after the kernel, too; the sums may not.
    """
    if bound in group.bound() or any(deferred & set(loads(call)) for call in _outermost(node.value, group)):
        return False
    if isinstance(node, gast.Assign) and _is_sum(node.value, group):
        group.add(bound, node.value, node)
        group.sums.append(bound)
        return True
    if isinstance(node, gast.Assign) and counts(node.value, group) and not deferred & set(loads(node.value)):
        group.add(bound, node.value, node)
        group.stored.append(bound)
        return True
    changed = at(copied(node, group.facts), node)
    sums = [*_outermost(changed.value, group)]
    if not sums and not {*group.stored, *group.sums} & set(loads(changed.value)):
        return False
    for call in sums:
        held = group.facts.names.fresh("total")
        group.add(held, call, node)
        group.sums.append(held)
        replace(changed, call, name(held))
    group.after.append(changed)
    return True


def _outermost(node: Node, group: Group) -> Iterator[Node]:
    """The sums in an expression that are in no other one."""
    if _is_sum(node, group):
        yield node
        return
    for child in children(node):
        yield from _outermost(child, group)


def _is_sum(node: Node, group: Group) -> bool:
    """Whether an expression puts an array together to a number."""
    many = group.many(node)
    if many is None or many.form in _NO_SUMS or not is_number(node, group):
        return False
    return not all(is_number(found_at(place), group) for place in many.values)


def is_number(node: Node, group: Group) -> bool:
    """Whether a value is known to be no array."""
    facts = group.facts
    many = group.many(node)
    if many is not None and many.form in ("SUM_TO", "SPREAD", "FILL"):
        return is_number(found_at(many.likes[0]), group)
    if many is not None:
        return many.form == "COUNT" or (many.is_total and not many.kept)
    if isinstance(node, gast.Constant):
        return True
    if isinstance(node, gast.Name):
        spec = facts.value_spec.get(facts.adjoint_of.get(node.id, node.id))
        if node.id in group.counters:
            return True
        seed = node.id in facts.seeds and facts.mode in ("reverse", "value-and-grad")
        return seed or (spec is not None and spec.scalar)
    if isinstance(node, gast.BinOp):
        return is_number(node.left, group) and is_number(node.right, group)
    if isinstance(node, gast.UnaryOp):
        return is_number(node.operand, group)
    if is_of_shape(node):
        return True
    if is_copy(node, facts):
        return False
    if isinstance(node, gast.Call) and group.is_elementwise(node):
        return all(is_number(argument, group) for argument in node.args)
    return False


def is_of_numbers(node: Node, group: Group) -> bool:
    """Whether a value is a number, and of numbers: no sum of an array, which would be work for a kernel."""
    return is_number(node, group) and not any(True for _ in _outermost(node, group))


def counts(node: Node, group: Group) -> bool:
    """Whether a number depends on the kernel by how many elements there are, and by nothing else."""
    many = group.many(node)
    if many is not None:
        return many.form == "COUNT" and bool({*group.stored} & set(loads(node)))
    parts = [node.left, node.right] if isinstance(node, gast.BinOp) else []
    parts += [node.operand] if isinstance(node, gast.UnaryOp) else []
    own = {*group.stored, *group.sums}
    return any(counts(part, group) for part in parts) and all(
        counts(part, group) or not own & set(loads(part)) for part in parts
    )


def reads_what_stays(node: Node, group: Group) -> bool:
    """Whether a statement behind a write reads values of the kernel and numbers only: no array may have changed."""
    kept = {*group.stored, *group.sums}
    reads = list(loads(node.value))
    if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
        reads.append(node.target.id)
    return all(read in kept or is_number(name(read), group) for read in reads)
