"""Undoing broadcasting, in one place: contributions get the shape of what they belong to.

`settle` decides from the specs whether a contribution must be summed (`sum_to`), may stay wider until the next
elementwise operation has been undone, or is narrower and must be expanded.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import TYPE_CHECKING

import gast
import numpy as np

from srcgrad.analyse.adjoint_shapes import covers, joined, spec_of_tree
from srcgrad.analyse.extents import extents, summed_axes, with_extents
from srcgrad.analyse.floating import negated
from srcgrad.analyse.kept import axis_kept
from srcgrad.facts import Facts, Operation, Spec, copied
from srcgrad.indices import new_axes
from srcgrad.trees import Node, expression, same

if TYPE_CHECKING:
    from srcgrad.derive.adjoints import Adjoints


def settle(adjoints: Adjoints, operand: Node, value: Node, like: Node) -> Node:
    """The contribution of an elementwise operation to its operand, in the operand's shape."""
    facts = adjoints.facts
    if operand.id in facts.accumulators.get(like, ()) and not facts.spec[like].scalar:
        adjoints.specs[operand.id] = wide(operand.id)  # stays as wide as the loop has made it
        return value
    result = facts.spec[like]
    wanted = facts.spec.get(operand)
    made = spec_of_tree(value, facts)
    widened = adjoints.specs.get(like.targets[0].id) == wide(like.targets[0].id)
    if not covers(made, result) and not widened:
        if wanted is not None and wanted.shape == result.shape:
            if not made.scalar and not adjoints.is_half(operand.id) and _is_shared(operand, facts):
                return _fit(value, operand, facts)
            if flexible(operand, facts) or (made.scalar and is_summed(operand, facts)):
                adjoints.specs[operand.id] = made
                return value
            return value if adjoints.exists(operand.id) else full(value, operand, facts)
        if _is_fitted(operand, made, result, adjoints):
            return _fit(value, operand, facts)
        value = expand(value, like.targets[0].id, facts)
        made = replace(joined(made, result), dtype=made.dtype)
    if wanted is not None and made.shape == wanted.shape and (made.dtype == wanted.dtype or not made.shape):
        return value
    summed = None
    if wanted is not None and not widened and facts.module.target == "numpy" and not adjoints.is_half(operand.id):
        summed = _dot(value, facts) if wanted.scalar else None
        summed = summed or _summed(value, made, wanted, facts)
    may_widen = flexible(operand, facts, _is_plain(operand, value, facts)) or _is_model(operand, facts)
    may_widen = may_widen or _is_unread(operand, like, facts)
    may_widen = may_widen or (not widened and _is_opened(operand, made, facts))
    if may_widen and not (wanted is not None and wanted.scalar) and (summed is None or _adds(operand, facts)):
        adjoints.specs[operand.id] = wide(operand.id) if widened else made
        return value
    if summed is not None:
        return summed
    wider = f", {facts.library('np')}.float32" if adjoints.is_half(operand.id) else ""
    return expression(f"{facts.library('sum_to')}(value, primal{wider})", value=value, primal=copied(operand, facts))


def _is_opened(operand: Node, made: Spec, facts: Facts) -> bool:
    """Whether a name is `x[:, None]`, of a known rank: an adjoint of that rank is summed along the new axis."""
    definition, operation = _made_by(operand, facts)
    if operation is None or operation.function is not operator.getitem or operand.id in facts.rebound:
        return False
    source, index, known = operation.bound["x"], operation.bound["index"], facts.spec[definition]
    if not isinstance(source, gast.Name) or source.id in facts.indexed:
        return False  # an adjoint of which parts are added to takes what has its shape
    plain = "float16" not in known.dtype and "float16" not in made.dtype
    return plain and _is_read(facts) and bool(new_axes(index)) and made.ndim == known.ndim == len(index.elts)


def closed(adjoints: Adjoints, operand: Node, value: Node, index: Node) -> Node | None:
    """What a wide adjoint of `x[:, None]` contributes to x; None where the adjoint is as wide as it is due."""
    facts, made = adjoints.facts, adjoints.facts.spec.get(value)
    due = None if made is None else extents(made)
    if made is None or made.ndim is None or made is not adjoints.specs.get(facts.adjoint_of[value.id]):
        return None
    axes = new_axes(index)
    spelled = axes[0] if len(axes) == 1 else tuple(axes)
    part = expression(f"value.sum(axis={spelled!r})", value=value)
    left = tuple(one for axis, one in enumerate(due or ()) if axis not in axes)
    facts.spec[part] = with_extents(left, made.dtype) if due else replace(wide(operand.id), ndim=made.ndim - len(axes))
    wanted = facts.spec.get(operand)
    if wanted is not None and facts.spec[part].shape == wanted.shape:
        return part
    if _adds(operand, facts) and flexible(operand, facts):
        adjoints.specs[operand.id] = facts.spec[part]
        return part
    summed = None if wanted is None else _summed(part, facts.spec[part], wanted, facts)
    return summed or expression(f"{facts.library('sum_to')}(value, primal)", value=part, primal=copied(operand, facts))


def own_sum(operand: Node, value: Node, facts: Facts) -> Node:
    """What a rule contributes with the sum that undoes broadcasting as it is known; without it where none is due."""
    is_sum = isinstance(value, gast.Call) and getattr(value.func, "id", "") == facts.imports.get("sum_to")
    wanted = facts.spec.get(operand)
    if not is_sum or len(value.args) != 2 or not same(value.args[1], operand) or wanted is None:
        return value
    made = spec_of_tree(value.args[0], facts)
    if made.shape == wanted.shape and made.dtype == wanted.dtype:
        return value.args[0]
    return (_summed(value.args[0], made, wanted, facts) if facts.module.target == "numpy" else None) or value


def _is_fitted(operand: Node, made: Spec, result: Spec, adjoints: Adjoints) -> bool:
    """Whether a contribution and its operand have all of a result's shape between them, so that this is not read.

    Where the lengths tell along which axes it is summed, that is written out.
    """
    facts, wanted = adjoints.facts, adjoints.facts.spec.get(operand)
    if not _is_read(facts):
        return False
    if wanted is None or wanted.scalar or adjoints.is_half(operand.id) or not covers(joined(made, wanted), result):
        return False
    whole, own = extents(result), extents(wanted)
    return whole is None or own is None or summed_axes(whole, own) is None


def _is_read(facts: Facts) -> bool:
    """Whether a text is for NumPy and for readers: neither differentiated again nor compiled."""
    module = facts.module
    if module is None or module.target != "numpy" or not module.seeded or module.leading.axis:
        return False
    return not facts.generated


def _dot(value: Node, facts: Facts) -> Node | None:
    """`a @ b`, the sum of `a * b` for vectors of one length; None for any other value."""
    minus = negated(value, facts)
    product = value if minus is None else minus
    if not isinstance(product, gast.BinOp) or not isinstance(product.op, gast.Mult):
        return None
    one, two = (spec_of_tree(side, facts) for side in (product.left, product.right))
    if one.ndim != 1 or two.ndim != 1 or one.shape != two.shape:
        return None
    made = expression("a @ b", a=product.left, b=product.right)
    return made if minus is None else gast.UnaryOp(gast.USub(), made)


def _summed(value: Node, made: Spec, wanted: Spec, facts: Facts) -> Node | None:
    """`value.sum(axis=0)`, where the axes along which the operand was broadcast are known; None where they are not."""
    if "float16" in made.dtype or not (made.dtype == wanted.dtype or (wanted.scalar and not wanted.dtype)):
        return None
    minus = negated(value, facts)
    if minus is not None:
        summed = _summed(minus, made, wanted, facts)
        return None if summed is None else gast.UnaryOp(gast.USub(), summed)
    one, two = extents(made), extents(wanted)
    axes = summed_axes(one, two) if one and two is not None else None
    if axes is None:
        along = axis_kept(wanted.shape, made.shape)
        kept_along = along is not ... and along is not None and (one is None or two is None)
        return expression(f"value.sum(axis={along!r}, keepdims=True)", value=value) if kept_along else None
    lead, widened = axes
    if one is not None and len(lead) == len(one):
        return expression("value.sum()", value=value)
    for along, keep in ((widened, ", keepdims=True"), (lead, "")):
        if along:
            value = expression(f"value.sum(axis={along[0] if len(along) == 1 else along!r}{keep})", value=value)
    return value


def wide(primal: str) -> Spec:
    """The spec of an adjoint that may be wider than its primal: it equals nothing."""
    own = frozenset([f"wide {primal}"])
    return Spec(own, own, None)


def flexible(operand: Node, facts: Facts, plain: bool = True) -> bool:
    """Whether the adjoint of a name need not have its shape: one use, and the operation below sees to it.

    An elementwise one does if the adjoint is `plain`, a name: later work is better done on fewer elements. A sum with
    one active operand has no later work. A product does if its operands' ranks are unknown, or if it were recorded
    in a loop for its shape only.
    """
    definition, operation = _made_by(operand, facts)
    if operation is None or operation.rule is None:
        return False
    if operation.rule.wide:
        return facts.spec[definition].ndim is None or operand.id in facts.rebound
    return operation.rule.kind == "elementwise" and (plain or _hands_on(operation, facts))


def _fit(value: Node, operand: Node, facts: Facts) -> Node:
    """`fit_to(value, operand)`: the value in the shape of what it belongs to."""
    return expression(f"{facts.library('fit_to')}(value, primal)", value=value, primal=copied(operand, facts))


def _is_shared(operand: Node, facts: Facts) -> bool:
    """Whether the operation below hands its adjoint on to a number as well, whose sum needs all of it."""
    operation = _made_by(operand, facts)[1]
    if operation is None or not _is_read(facts):
        return False
    active = [one for one in operation.bound.values() if isinstance(one, gast.Name) and one.id in facts.active]
    return any(facts.spec[one].scalar for one in active if one in facts.spec)


def _adds(operand: Node, facts: Facts) -> bool:
    """Whether the operation below a name hands its adjoint on: what is summed later is summed once."""
    operation = _made_by(operand, facts)[1]
    return operation is not None and operation.function in (np.add, np.subtract, np.negative, np.positive)


def _is_model(operand: Node, facts: Facts) -> bool:
    """Whether a name is a product that would be recorded for its shape only: its rule sums what is wider."""
    definition, operation = _made_by(operand, facts)
    if operation is None or operation.rule is None or not operation.rule.wide or not _is_read(facts):
        return False
    return "float16" not in facts.spec[definition].dtype


def _made_by(operand: Node, facts: Facts) -> tuple[Node | None, Operation | None]:
    """The statement and the operation that make a value which is read once, and is no argument.

    What a loop reads in each trip is read more than once: what the trips contribute is added up, in one shape.
    """
    if operand.id in facts.wrt or facts.reads.get(operand.id) != 1 or operand.id in facts.lasting:
        return None, None
    definition = facts.definition.get(operand.id)
    return definition, None if definition is None else facts.operation.get(getattr(definition, "value", None))


def is_sum(operand: Node, facts: Facts) -> bool:
    """Whether a name of ours is a sum, read once, and no term is known to have its shape: it has no other use."""
    definition, operation = _made_by(operand, facts)
    if operation is None or operation.function not in (np.add, np.subtract) or not _is_read(facts):
        return False
    whole = facts.spec[definition].shape
    alike = any(spec_of_tree(term, facts).shape == whole for term in operation.bound.values())
    return operand.id in facts.temporaries and not alike


def _is_unread(operand: Node, like: Node, facts: Facts) -> bool:
    """Whether a sum is read for its shape only, since the operation that reads it is linear in it."""
    reader = facts.operation.get(getattr(like, "value", None))
    if reader is None or reader.function not in (np.add, np.subtract, np.negative, np.multiply):
        return False
    active = [one for one in reader.bound.values() if isinstance(one, gast.Name) and one.id in facts.active]
    return is_sum(operand, facts) and len(active) == 1


def is_product(operand: Node, facts: Facts) -> bool:
    """Whether a name is a product of two arrays, read once: what they get is summed, whatever the width it has."""
    operation = _made_by(operand, facts)[1]
    if operation is None or operation.function is not np.multiply or not _is_read(facts):
        return False
    return not any(isinstance(factor, gast.Constant) for factor in operation.bound.values())


def _is_plain(operand: Node, value: Node, facts: Facts) -> bool:
    """Whether a value is a name, or, for the factors of a product, one with a minus: there is nothing to compute."""
    if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub) and is_product(operand, facts):
        value = value.operand
    return isinstance(value, gast.Name)


def _hands_on(operation: Operation, facts: Facts) -> bool:
    """Whether the adjoint of one operand is that of the result, as it is or negated, and no other is active."""
    if operation.function not in (np.add, np.subtract, np.negative, np.positive):
        return False
    return sum(isinstance(a, gast.Name) and a.id in facts.active for a in operation.bound.values()) == 1


def is_summed(operand: Node, facts: Facts) -> bool:
    """Whether a name is a sum or mean that is read once: its adjoint may be one number for all of its elements."""
    operation = None if operand.id in facts.rebound else _made_by(operand, facts)[1]
    return operation is not None and operation.function in (np.sum, np.mean)


def expand(value: Node, primal: str, facts: Facts) -> Node:
    """`value` broadcast to the shape of a primal value."""
    return expression(
        f"{facts.library('np')}.broadcast_to(value, {facts.library('np')}.shape(primal))", value=value, primal=primal
    )


def full(value: Node, operand: Node, facts: Facts) -> Node:
    """An array of the operand's shape filled with `value`."""
    spec = facts.spec.get(operand)
    if spec is not None and spec.scalar:
        return value
    if spec_of_tree(value, facts).scalar:
        return expression(f"{facts.library('np')}.full_like(primal, value)", primal=copied(operand, facts), value=value)
    return expand(value, operand.id, facts)
