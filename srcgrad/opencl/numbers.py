"""What a group knows to be numbers: a kernel is given them as such, and statements of numbers only stay Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gast

from srcgrad.opencl.many import at as found_at
from srcgrad.opencl.many import is_of_shape
from srcgrad.opencl.parts import is_copy
from srcgrad.trees import Node, loads, name

if TYPE_CHECKING:
    from srcgrad.opencl.groups import Group


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
