"""The adjoints of a backward half: which exist, which are known to be zero, and how contributions add up.

Broadcasting is undone here, in one place: `settle` decides from the specs whether a contribution must be summed
(`sum_to`), may stay wider until the next elementwise operation has been undone, or is narrower and must be expanded.
What `spread`, the transpose of a sum, gives each element is broadcast to them anyway: it need not be written out.
"""

from __future__ import annotations

import operator
from dataclasses import field

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.array_regions import axis_kept, extents, summed_axes, with_extents
from srcgrad.analysis.dtypes import may_be_complex, operand_of_negative
from srcgrad.analysis.shapes import broadcast_specs as shape_rules_joined
from srcgrad.analysis.shapes import covers, spec_of_tree
from srcgrad.core.facts import UNKNOWN, Facts, Operation, Spec, bar, copy_with_facts, function_called, part_of
from srcgrad.core.identity import record, replace
from srcgrad.core.rules import makes_new, rule_of
from srcgrad.core.trees import (
    Block,
    Node,
    as_value,
    assign,
    expression,
    literal_node,
    literal_of,
    loads,
    name,
    new_axes,
    same_tree,
    statement,
    statements,
    stores,
    written_names,
)
from srcgrad.derive.instantiate_rules import real_part
from srcgrad.derive.masks import Mask
from srcgrad.frontend.early_facts import may_count
from srcgrad.frontend.resolve import METHODS


def settle(adjoints: Adjoints, operand: Node, value: Node, like: Node) -> Node:
    """The contribution of an elementwise operation to its operand, in the operand's shape."""
    facts = adjoints.facts
    if operand.id in facts.tape.accumulators.get(like, ()) and not facts.values.spec[like].scalar:
        adjoints.specs[operand.id] = wide_spec(operand.id)  # stays as wide as the loop has made it
        return value
    result = facts.values.spec[like]
    wanted = facts.values.spec.get(operand)
    made = spec_of_tree(value, facts)
    widened = adjoints.specs.get(like.targets[0].id) == wide_spec(like.targets[0].id)
    if not covers(made, result) and not widened:
        if wanted is not None and wanted.shape == result.shape:
            if not made.scalar and not adjoints.is_half(operand.id) and _is_shared(operand, facts):
                return _fit(value, operand, facts)
            if shape_may_differ(operand, facts) or (made.scalar and is_summed(operand, facts)):
                adjoints.specs[operand.id] = made
                return value
            return value if adjoints.broadcasts(operand, made) else full_array(value, operand, facts)
        if _is_fitted(operand, made, result, adjoints):
            return _fit(value, operand, facts)
        value = expand(value, like.targets[0].id, facts)
        made = replace(shape_rules_joined(made, result), dtype=made.dtype)
    if wanted is not None and made.shape == wanted.shape and (made.dtype == wanted.dtype or not made.shape):
        return value
    summed = None
    if wanted is not None and not widened and facts.module.target.as_written and not adjoints.is_half(operand.id):
        summed = _dot(value, facts) if wanted.scalar else None
        summed = summed or _sum_broadcast_axes(value, made, wanted, facts)
    may_widen = shape_may_differ(operand, facts, _is_name_or_factor(operand, value, facts)) or _is_model(operand, facts)
    may_widen = may_widen or _is_unread(operand, like, facts)
    may_widen = may_widen or (not widened and _is_opened(operand, made, facts))
    if may_widen and not (wanted is not None and wanted.scalar) and (summed is None or _adds(operand, facts)):
        adjoints.specs[operand.id] = wide_spec(operand.id) if widened else made
        return value
    if summed is not None:
        return summed
    wider = f", {facts.library('np')}.float32" if adjoints.is_half(operand.id) else ""
    return expression(
        f"{facts.library('sum_to')}(value, primal{wider})", value=value, primal=copy_with_facts(operand, facts)
    )


def _is_opened(operand: Node, made: Spec, facts: Facts) -> bool:
    """Whether a name is `x[:, None]`, of a known rank: an adjoint of that rank is summed along the new axis."""
    definition, operation = _made_by(operand, facts)
    if (
        definition is None
        or operation is None
        or operation.function is not operator.getitem
        or operand.id in facts.activity.rebound
    ):
        return False
    source, index, known = operation.bound["x"], operation.bound["index"], facts.values.spec[definition]
    if not isinstance(source, gast.Name) or source.id in facts.activity.indexed:
        return False  # an adjoint of which parts are added to takes what has its shape
    plain = "float16" not in known.dtype and "float16" not in made.dtype
    return plain and _is_read(facts) and bool(new_axes(index)) and made.ndim == known.ndim == len(index.elts)


def sum_new_axes(adjoints: Adjoints, operand: Node, value: Node, index: Node) -> Node | None:
    """What a wide adjoint of `x[:, None]` contributes to x; None where the adjoint is as wide as it is due."""
    facts, made = adjoints.facts, adjoints.facts.values.spec.get(value)
    due = None if made is None else extents(made)
    if made is None or made.ndim is None or made is not adjoints.specs.get(facts.names.adjoint_of[value.id]):
        return None
    axes = new_axes(index)
    spelled = axes[0] if len(axes) == 1 else tuple(axes)
    part = expression(f"value.sum(axis={spelled!r})", value=value)
    left = tuple(one for axis, one in enumerate(due or ()) if axis not in axes)
    facts.values.spec[part] = (
        with_extents(left, made.dtype) if due else replace(wide_spec(operand.id), ndim=made.ndim - len(axes))
    )
    wanted = facts.values.spec.get(operand)
    if wanted is not None and facts.values.spec[part].shape == wanted.shape:
        return part
    if _adds(operand, facts) and shape_may_differ(operand, facts):
        adjoints.specs[operand.id] = facts.values.spec[part]
        return part
    summed = None if wanted is None else _sum_broadcast_axes(part, facts.values.spec[part], wanted, facts)
    return summed or expression(
        f"{facts.library('sum_to')}(value, primal)", value=part, primal=copy_with_facts(operand, facts)
    )


def own_sum(operand: Node, value: Node, facts: Facts) -> Node:
    """What a rule contributes with the sum that undoes broadcasting as it is known; without it where none is due."""
    is_sum = function_called(value, facts) is runtime.sum_to
    wanted = facts.values.spec.get(operand)
    if not is_sum or len(value.args) != 2 or not same_tree(value.args[1], operand) or wanted is None:
        return value
    made = spec_of_tree(value.args[0], facts)
    if made.shape == wanted.shape and made.dtype == wanted.dtype:
        summand: Node = value.args[0]
        return summand
    return (
        _sum_broadcast_axes(value.args[0], made, wanted, facts) if facts.module.target.as_written else None
    ) or value


def _is_fitted(operand: Node, made: Spec, result: Spec, adjoints: Adjoints) -> bool:
    """Whether a contribution and its operand have all of a result's shape between them, so that this is not read.

    Where the lengths tell along which axes it is summed, that is written out.
    """
    facts, wanted = adjoints.facts, adjoints.facts.values.spec.get(operand)
    if not _is_read(facts):
        return False
    if (
        wanted is None
        or wanted.scalar
        or adjoints.is_half(operand.id)
        or not covers(shape_rules_joined(made, wanted), result)
    ):
        return False
    whole, own = extents(result), extents(wanted)
    return whole is None or own is None or summed_axes(whole, own) is None


def _is_read(facts: Facts) -> bool:
    """Whether a text is for NumPy and for readers: neither differentiated again nor compiled."""
    module = facts.module
    if module is None or not module.target.as_written or not module.seeded or module.leading.axis:
        return False
    return not facts.request.generated


def _dot(value: Node, facts: Facts) -> Node | None:
    """`a @ b`, the sum of `a * b` for vectors of one length; None for any other value."""
    minus = operand_of_negative(value, facts)
    product = value if minus is None else minus
    if not isinstance(product, gast.BinOp) or not isinstance(product.op, gast.Mult):
        return None
    one, two = (spec_of_tree(side, facts) for side in (product.left, product.right))
    if one.ndim != 1 or two.ndim != 1 or one.shape != two.shape:
        return None
    made = expression("a @ b", a=product.left, b=product.right)
    return made if minus is None else gast.UnaryOp(gast.USub(), made)


def _sum_broadcast_axes(value: Node, made: Spec, wanted: Spec, facts: Facts) -> Node | None:
    """`value.sum(axis=0)`, where the axes along which the operand was broadcast are known; None where they are not."""
    if "float16" in made.dtype or not (made.dtype == wanted.dtype or (wanted.scalar and not wanted.dtype)):
        return None
    minus = operand_of_negative(value, facts)
    if minus is not None:
        summed = _sum_broadcast_axes(minus, made, wanted, facts)
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


def wide_spec(primal: str) -> Spec:
    """The spec of an adjoint that may be wider than its primal: it equals nothing."""
    own = frozenset([f"wide {primal}"])
    return Spec(own, own, None)


def shape_may_differ(operand: Node, facts: Facts, plain: bool = True) -> bool:
    """Whether the adjoint of a name need not have its shape: one use, and the operation below sees to it.

    An elementwise one does if the adjoint is `plain`, a name: later work is better done on fewer elements. A sum with
    one active operand has no later work. A product does if its operands' ranks are unknown, or if it were recorded
    in a loop for its shape only.
    """
    definition, operation = _made_by(operand, facts)
    if definition is None or operation is None or operation.rule is None:
        return False
    if operation.rule.wide:
        return facts.values.spec[definition].ndim is None or operand.id in facts.activity.rebound
    return operation.rule.kind == "elementwise" and (plain or _hands_on(operation, facts))


def _fit(value: Node, operand: Node, facts: Facts) -> Node:
    """`fit_to(value, operand)`: the value in the shape of what it belongs to."""
    return expression(f"{facts.library('fit_to')}(value, primal)", value=value, primal=copy_with_facts(operand, facts))


def _is_shared(operand: Node, facts: Facts) -> bool:
    """Whether the operation below hands its adjoint on to a number as well, whose sum needs all of it."""
    operation = _made_by(operand, facts)[1]
    if operation is None or not _is_read(facts):
        return False
    active = [one for one in operation.bound.values() if isinstance(one, gast.Name) and one.id in facts.activity.active]
    return any(facts.values.spec[one].scalar for one in active if one in facts.values.spec)


def _adds(operand: Node, facts: Facts) -> bool:
    """Whether the operation below a name hands its adjoint on: what is summed later is summed once."""
    operation = _made_by(operand, facts)[1]
    return operation is not None and operation.function in (np.add, np.subtract, np.negative, np.positive)


def _is_model(operand: Node, facts: Facts) -> bool:
    """Whether a name is a product that would be recorded for its shape only: its rule sums what is wider."""
    definition, operation = _made_by(operand, facts)
    if definition is None or operation is None or operation.rule is None:
        return False
    if not operation.rule.wide or not _is_read(facts):
        return False
    return "float16" not in facts.values.spec[definition].dtype


def _made_by(operand: Node, facts: Facts) -> tuple[Node | None, Operation | None]:
    """The statement and the operation that make a value which is read once, and is no argument.

    What a loop reads in each trip is read more than once: what the trips contribute is added up, in one shape.
    """
    if (
        operand.id in facts.request.wrt
        or facts.activity.reads.get(operand.id) != 1
        or operand.id in facts.activity.lasting
    ):
        return None, None
    definition = facts.activity.definition.get(operand.id)
    return definition, None if definition is None else facts.operation_of(definition)


def is_sum(operand: Node, facts: Facts) -> bool:
    """Whether a name of ours is a sum, read once, and no term is known to have its shape: it has no other use."""
    definition, operation = _made_by(operand, facts)
    if definition is None or operation is None or not _is_read(facts):
        return False
    if operation.function not in (np.add, np.subtract):
        return False
    whole = facts.values.spec[definition].shape
    alike = any(spec_of_tree(term, facts).shape == whole for term in operation.bound.values())
    return operand.id in facts.names.temporaries and not alike


def _is_unread(operand: Node, like: Node, facts: Facts) -> bool:
    """Whether a sum is read for its shape only, since the operation that reads it is linear in it."""
    reader = facts.operation_of(like)
    if reader is None or reader.function not in (np.add, np.subtract, np.negative, np.multiply):
        return False
    active = [one for one in reader.bound.values() if isinstance(one, gast.Name) and one.id in facts.activity.active]
    return is_sum(operand, facts) and len(active) == 1


def is_product(operand: Node, facts: Facts) -> bool:
    """Whether a name is a product of two arrays, read once: what they get is summed, whatever the width it has."""
    operation = _made_by(operand, facts)[1]
    if operation is None or operation.function is not np.multiply or not _is_read(facts):
        return False
    return not any(isinstance(factor, gast.Constant) for factor in operation.bound.values())


def _is_name_or_factor(operand: Node, value: Node, facts: Facts) -> bool:
    """Whether a value is a name, or, for the factors of a product, one with a minus: there is nothing to compute."""
    if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub) and is_product(operand, facts):
        value = value.operand
    return isinstance(value, gast.Name)


def _hands_on(operation: Operation, facts: Facts) -> bool:
    """Whether the adjoint of one operand is that of the result, as it is or negated, and no other is active."""
    if operation.function not in (np.add, np.subtract, np.negative, np.positive):
        return False
    return sum(isinstance(a, gast.Name) and a.id in facts.activity.active for a in operation.bound.values()) == 1


def is_summed(operand: Node, facts: Facts) -> bool:
    """Whether a name is a sum or mean that is read once: its adjoint may be one number for all of its elements."""
    operation = None if operand.id in facts.activity.rebound else _made_by(operand, facts)[1]
    return operation is not None and operation.function in (np.sum, np.mean)


def expand(value: Node, primal: str, facts: Facts) -> Node:
    """`value` broadcast to the shape of a primal value."""
    return expression(
        f"{facts.library('np')}.broadcast_to(value, {facts.library('np')}.shape(primal))", value=value, primal=primal
    )


def full_array(value: Node, operand: Node, facts: Facts) -> Node:
    """An array of the operand's shape filled with `value`."""
    spec = facts.values.spec.get(operand)
    if spec is not None and spec.scalar:
        return value
    if spec_of_tree(value, facts).scalar:
        return expression(
            f"{facts.library('np')}.full_like(primal, value)", primal=copy_with_facts(operand, facts), value=value
        )
    return expand(value, operand.id, facts)


def is_spread(value: Node, facts: Facts) -> bool:
    """Whether a tree is `spread(g, a, axis, keepdims)`, the transpose of a sum."""
    return function_called(value, facts) is runtime.spread


def narrow_form(value: Node, facts: Facts) -> Node | None:
    """What `spread` broadcasts, where its axis is a literal: `g`, or g with an axis more; None otherwise."""
    g: Node = value.args[0]
    axis, keepdims = _literals(value)
    if spec_of_tree(g, facts).scalar:
        return g
    if axis is ... or keepdims is ...:
        return None
    whole = spec_of_tree(value.args[1], facts)
    if whole.ndim == 1 and axis in (0, -1, (0,), (-1,)) and not keepdims:
        return g
    known = spec_of_tree(g, facts)
    if axis is None or keepdims:
        if axis is None and not keepdims:
            return g
        return g if known.ndim is not None else _note_neutral(g, known, facts)
    rank = whole.ndim
    if rank is not None and axis in (-1, (-1,)) and rank > 1:
        axis = rank - 1
    if axis in (0, (0,)) and rank is None and not known.ndim:
        return _note_neutral(g, known, facts)  # the operand may be a number, whose sum has an axis 0 as well
    if isinstance(axis, int) and (axis > 0 or (axis == 0 and known.ndim)):  # the sum has an axis: it is an array
        made = expression(f"g[{':, ' * axis}None]", g=g)
    else:
        made = expression(f"{facts.library('np')}.expand_dims(g, {axis!r})", g=g)
    lengths = extents(known)
    if isinstance(axis, int) and lengths and rank == len(lengths) + 1 and axis >= 0:
        facts.values.spec[made] = with_extents((*lengths[:axis], "1", *lengths[axis:]), known.dtype)
        return made
    return _note_neutral(made, known, facts)


def _note_neutral(node: Node, spec: Spec, facts: Facts) -> Node:
    """Note that a tree broadcasts into the shape of whatever it is combined with."""
    facts.values.spec[node] = Spec(frozenset(), spec.dtype, None)
    return node


def _literals(value: Node) -> tuple[object, object]:
    """The axis and keepdims of a `spread`; Ellipsis where they are not literal."""
    found: list[object] = [None, False]
    for position, node in enumerate(value.args[2:4]):
        found[position] = literal_of(node, ...)
    axis, keepdims = found
    if axis is not None and axis is not ... and not isinstance(axis, int | tuple):
        axis = ...
    return axis, keepdims


ABSENT, ZERO, PRESENT = "absent", "zero", "present"
NUMBER, EITHER = "number", "either"  # 0.0 whatever the shape of the primal, which is not bound there; 0.0 or PRESENT
State = dict[str, str]  # primal name -> what is known of its adjoint; missing means ABSENT


def names(*states: State) -> list[str]:
    """The primal names of which something is known, in order."""
    return list(dict.fromkeys(name for state in states for name in state))


def differ(primal: str, states: list[State]) -> bool:
    """Whether an adjoint exists after one way only."""
    kinds = {state.get(primal, ABSENT) for state in states}
    return len(kinds) > 1 and ABSENT in kinds


def changed_adjoints(before: State, states: list[State]) -> list[str]:
    """Adjoints that are the number 0.0 before, whatever the shape of the primal, and something else after."""
    numbers = [primal for primal, kind in before.items() if kind == NUMBER]
    return [n for n in numbers if any(state.get(n, ABSENT) not in (NUMBER, ABSENT) for state in states)]


def join_adjoint_kinds(kinds: list[str]) -> str:
    """What is known after two ways: elsewhere than in a branch, a `NUMBER` is read where it was not taken only."""
    return next((kind for kind in (EITHER, PRESENT, ZERO, NUMBER) if kind in kinds), ABSENT)


def at_trip(before: State) -> State:
    """At the head of a trip what was zero before the loop may have been added to by another trip."""
    return {primal: PRESENT if kind == ZERO else kind for primal, kind in before.items()}


@record
class Adjoints:
    """State of the adjoints at the current place of the backward half, and the names that they go by."""

    facts: Facts
    state: State = field(default_factory=dict)
    specs: dict[str, Spec] = field(default_factory=dict)
    outputs: dict[str, list[tuple[int, Node]]] = field(default_factory=dict)  # tuple -> adjoints of parts that matter
    masks: dict[str, Mask] = field(default_factory=dict)  # primal -> where its adjoint may be nonzero, if known
    parts_masks: dict[str, list[Mask | None]] = field(default_factory=dict)  # the same of a callee's tuple, by items
    mask_stacks: dict[str, str] = field(default_factory=dict)  # stack -> that of the masks of its items' adjoints
    flags: dict[str, str] = field(default_factory=dict)  # primal -> what says whether anything was added to its adjoint
    flag: str = ""  # that of the statement whose contributions are made
    flag_names: dict[tuple[Node, str], str] = field(default_factory=dict)  # statement, primal -> the flag that it makes
    flag_stacks: dict[str, str] = field(default_factory=dict)  # stack -> that of the flags of its items' adjoints
    flag_sides: dict[str, Block] = field(default_factory=dict)  # flag -> the one side of a branch that sets it
    guarded: dict[str, None] = field(default_factory=dict)  # primal values whose adjoints are made under a flag
    bare: dict[str, list[Node]] = field(default_factory=dict)  # arrays of which only pieces without masks have arrived
    arriving: dict[str, list[Mask | None]] = field(default_factory=dict)  # ... of what a statement contributes
    depth: int = 0  # how many branches are around the current place

    def of(self, primal: str) -> str:
        """The name of the adjoint of `primal`."""
        spelled = self.facts.names.spelled
        if primal not in spelled:
            spelled[primal] = self.facts.names.fresh(bar(primal))
            self.facts.names.adjoint_of[spelled[primal]] = primal
        return spelled[primal]

    def exists(self, primal: str) -> bool:
        """Whether the adjoint may be nonzero here."""
        return self.state.get(primal, ABSENT) in (PRESENT, EITHER)

    def may_be_unbound(self, primal: str) -> bool:
        """Whether the primal may have no value here: it is bound in a branch, and this is outside of that."""
        return self.facts.activity.branch_depth.get(primal, 0) > self.depth

    def read(self, primal: str, spec: Spec | None) -> Node:
        """The adjoint as an operand."""
        made = name(self.of(primal))
        spec = self.specs.get(primal, spec)
        if spec is not None:
            self.facts.values.spec[made] = spec
        return made

    def arrive(self, primal: str, mask: Mask | None) -> None:
        """Note where a contribution to an adjoint may be nonzero, if anybody wants to know."""
        if primal in self.facts.idioms.masked:
            self.arriving.setdefault(primal, []).append(mask)

    def contribute(self, operand: Node, value: Node, into: Block, like: Node) -> None:
        """Add `value` to the adjoint of the operand's name, in the operand's shape."""
        facts = self.facts
        value = self.fit_to_real(operand, value)
        if value in facts.tape.reduced:
            value = settle(self, operand, value, like)
        elif is_spread(value, facts):
            value = self.spread(operand, value)
        self.contribute_whole(operand, value, into, like)

    def spread(self, operand: Node, value: Node) -> Node:
        """The adjoint of a sum: as it is where broadcasting does the work, otherwise expanded."""
        narrow = narrow_form(value, self.facts)
        if narrow is None:
            return value
        made = spec_of_tree(narrow, self.facts)
        if shape_may_differ(operand, self.facts) or (made.scalar and is_summed(operand, self.facts)):
            self.specs[operand.id] = made
            return narrow
        return narrow if self.broadcasts(operand, made) else full_array(narrow, operand, self.facts)

    def broadcasts(self, operand: Node, made: Spec) -> bool:
        """Whether what is added to an adjoint is broadcast then: to a list an array is added row by row."""
        held = operand.id in self.facts.kinds.containers or operand.id in self.facts.activity.summed
        return self.exists(operand.id) and (made.scalar or not held)

    def contribute_whole(self, operand: Node, value: Node, into: Block, like: Node) -> None:
        """Add a value that has the operand's own shape to its adjoint."""
        primal = operand.id
        self.masks.pop(primal, None)
        self.flags.pop(primal, None)
        value = self.fit_to_real(operand, value)
        spec = self.specs.get(primal, self.facts.values.spec.get(operand))
        target = self.of(primal)
        shared = primal in self.facts.activity.indexed and primal not in self.facts.kinds.containers
        if not self.exists(primal) and shared and primal in self.facts.values.complex:
            value = expression(f"{self.facts.library('np')}.array(value, dtype=complex)", value=value)
        elif not self.exists(primal) and shared and not is_fresh_value(value, self.facts):
            value = expression(f"{self.facts.library('np')}.array(value)", value=value)  # its elements will change
        if self.exists(primal) and (primal in self.facts.kinds.containers or primal in self.facts.activity.summed):
            helper = self.facts.library("add")
            made = assign(target, expression(f"{helper}(one, two)", one=self.read(primal, spec), two=value), like)
        elif self.exists(primal):
            made = assign(target, gast.BinOp(self.read(primal, spec), gast.Add(), value), like)
            self.facts.tape.accumulates[made] = None
        else:
            if self.facts.list_kind(primal) == "list" and not is_list(value):
                value = expression("list(value)", value=value)  # its items will change
            elif self.has_parts(primal) and self.facts.activity.reads.get(primal, 0) > 1:
                value = self.own_parts(primal, spec, value)
            if (
                self.is_half(primal)
                and self.facts.activity.reads.get(primal, 0) > 1
                and primal not in self.facts.activity.rebound
            ):
                value = self.widen_contribution(value)
            made = assign(target, value, like)
        self.note(made, spec)
        into.append(made)
        self.state[primal] = PRESENT

    def has_parts(self, primal: str) -> bool:
        """Whether parts are read of a container which the function does not change."""
        facts = self.facts
        return primal in facts.kinds.containers and primal in facts.activity.indexed and not facts.list_kind(primal)

    def own_parts(self, primal: str, spec: Spec | None, value: Node) -> Node:
        """The adjoint of a container to whose parts something will be added: it may be a tuple, or part of the seed."""
        zeros = self.zero_value(primal, spec, bound=True)
        return expression(f"{self.facts.library('add')}(zeros, value)", zeros=zeros, value=value)

    def widen_contribution(self, value: Node) -> Node:
        """The first of several contributions to an adjoint of float16, in float32."""
        np_, spec = self.facts.library("np"), spec_of_tree(value, self.facts)
        if spec.ndim:
            return expression(f"(value).astype({np_}.float32)", value=value)
        return expression(
            f"{np_}.{'float32(value)' if spec.scalar else f'asarray(value, dtype={np_}.float32)'}", value=value
        )

    def is_half(self, primal: str) -> bool:
        """Whether a primal value is of float16: its adjoint is added up in float32."""
        spec = self.facts.values.value_spec.get(primal)
        known = spec is not None and spec.dtype == {"float16"}
        return known or self.facts.kinds.of_names.get(primal, UNKNOWN).dtype == "float16"

    def fit_to_real(self, operand: Node, value: Node) -> Node:
        """The contribution to something real is real."""
        held = operand.id
        holder = held in self.facts.kinds.containers or self.facts.list_kind(held)
        listed = holder and not self.is_array(value)
        return value if held in self.facts.values.complex or listed else real_part(value, self.facts)

    def is_array(self, value: Node) -> bool:
        """Whether a contribution is an array, also to a list: that of an operation of a library which takes lists."""
        if not isinstance(value, gast.Call):
            return isinstance(value, gast.BinOp)
        function = function_called(value, self.facts)
        if isinstance(value.func, gast.Attribute) and makes_new(function, value):
            return True
        return rule_of(function) is not None and any(self.is_array(one) for one in value.args)

    def of_value(self, node: Node, bound: str) -> Node:
        """The adjoint of what a statement binds: its real part, where only other statements bind something complex."""
        facts = self.facts
        read = self.read(bound, facts.values.spec.get(node))
        holder = bound in facts.kinds.containers or facts.list_kind(bound)
        if bound in facts.values.complex and not holder and not may_be_complex(node.value, facts):
            return real_part(read, facts)
        return read

    def element_zeros(self, primal: str, spec: Spec | None, like: Node) -> Node:
        """Zeros to whose elements something will be added: an array, also where the primal is a number."""
        if primal in self.facts.kinds.containers or self.is_half(primal):
            return self.zeros(primal, spec, like, bound=True)
        helper = self.facts.library("np") + ".zeros_like"
        if primal in self.facts.request.inner:
            helper = self.facts.library("zeros_like")  # it may hold integers
        known = primal not in self.facts.values.complex or self.facts.kinds.of_names.get(primal, UNKNOWN).complex
        dtype = "" if known else ", dtype=complex"
        made = assign(self.of(primal), expression(f"{helper}(primal{dtype})", primal=primal), like)
        self.facts.tape.zeros[made] = None
        self.note(made, spec)
        self.state[primal] = ZERO
        return made

    def note(self, made: Node, spec: Spec | None) -> None:
        """Keep what is known of the value that a backward statement binds."""
        if spec is not None:
            self.facts.values.spec[made] = spec

    def element(self, operand: Node, index: Node, value: Node, basic: bool, into: Block, like: Node) -> None:
        """`x_bar[index] += value`, on an array that this code made."""
        primal = operand.id
        self.masks.pop(primal, None)
        self.flags.pop(primal, None)
        into.extend(self.whole(primal, self.facts.values.spec.get(operand), like))
        target = self.of(primal)
        held = primal in self.facts.kinds.containers
        if held and (
            primal in self.facts.values.complex or not _is_plain(primal, index, self.facts)
        ):  # one may be real
            helper = self.facts.library("add")
            again = copy_with_facts(index, self.facts)
            made = statement(
                f"target[index] = {helper}(target[again], value)", target=target, index=index, again=again, value=value
            )
        elif basic or held:
            made = statement("target[index] += value", target=target, index=index, value=value)
        else:
            helper = self.facts.library("add_at")
            index = as_value(index)
            made = statement(f"{helper}(target, index, value)", target=target, index=index, value=value)
        made.lineno = like.lineno
        into.append(made)
        self.facts.memory.elements[target] = None
        self.state[primal] = PRESENT

    def whole(self, primal: str, spec: Spec | None, like: Node) -> Block:
        """What makes an adjoint an array, of which elements can be read and changed, if it is not one for sure."""
        kind = self.state.get(primal, ABSENT)
        if kind in (ABSENT, NUMBER):
            return [self.element_zeros(primal, spec, like)]
        if kind != EITHER:
            return []
        zeros = self.zero_value(primal, spec, bound=True)
        held = primal in self.facts.kinds.containers
        sum_ = expression(
            f"{self.facts.library('add')}(zeros, old)" if held else "zeros + old", zeros=zeros, old=self.of(primal)
        )
        made = assign(self.of(primal), sum_, like)
        self.note(made, spec)
        self.state[primal] = PRESENT
        return [made]

    def half_zeros(self, primal: str) -> Node:
        """`np.zeros_like(x, dtype=np.float32)`"""
        np_ = self.facts.library("np")
        return expression(f"{np_}.zeros_like(primal, dtype={np_}.float32)", primal=primal)

    def zeros(self, primal: str, spec: Spec | None, like: Node, bound: bool = False) -> Node:
        """`x_bar = zeros`: of the primal's shape, and of a float dtype; 0.0 where the primal is not bound."""
        value = self.zero_value(primal, spec, bound)
        made = assign(self.of(primal), value, like)
        self.facts.tape.zeros[made] = None
        self.note(made, spec)
        self.state[primal] = NUMBER if self.may_be_unbound(primal) and not bound else ZERO
        return made

    def _means_another(self, primal: str) -> bool:
        """Whether an argument of unknown kind is bound anew to what is not made of it: it may be of another kind."""
        known = self.facts.kinds.arguments.get(primal, UNKNOWN).tag
        if known != "unknown" or primal not in self.facts.activity.rebound:
            return False
        bound = [n for n in statements(self.facts.source.tree.body) if primal in stores(n) and not written_names(n)]
        return any(primal not in loads(n) for n in bound)

    def zero_value(self, primal: str, spec: Spec | None, bound: bool = False) -> Node:
        """Zeros that mirror a primal value; 0.0 if that may have none here, unless it is known to be `bound`."""
        kind = self.facts.kinds.of_names.get(primal, UNKNOWN)
        if self.may_be_unbound(primal) and not bound:
            return literal_node(0.0)
        parameter = primal in self.facts.request.wrt and primal not in self.facts.request.inner
        if kind.tag == "scalar" or (not parameter and spec is not None and spec.scalar):
            return expression(f"{self.facts.library('np')}.float32(0.0)") if self.is_half(primal) else literal_node(0.0)
        if self.is_half(primal) and primal not in self.facts.kinds.containers:
            return self.half_zeros(primal)
        parameter = parameter and primal not in self.facts.kinds.containers and not may_count(primal, self.facts)
        parameter = parameter and not self._means_another(primal)
        counted = kind.tag == "unknown" and self.facts.request.called  # a caller's argument may be a counter
        if parameter and kind.tag in ("unknown", "array") and not counted:
            return expression(f"{self.facts.library('np')}.zeros_like(primal)", primal=primal)
        zeros = f"{self.facts.library('zeros_like')}(primal)"
        given, held = self.facts.kinds.arguments.get(primal, UNKNOWN).tag, self.facts.kinds.containers.get(primal)
        rebound = primal in self.facts.request.wrt and primal in self.facts.activity.rebound
        listed = held == "list" and (given == "tuple" or (given == "unknown" and rebound))  # it may be a tuple first
        if held != "tuple" and not listed:
            return expression(zeros, primal=primal)
        mixed = primal in self.facts.kinds.mixed or given == "array"  # it holds a number, or an array, elsewhere
        mixed = mixed or (held == "list" and given == "unknown")
        written = f"list({zeros}) if isinstance(primal, tuple) else {zeros}" if mixed else f"list({zeros})"
        return expression(written, primal=primal)


_NO_SUMS = ("tuple", "list", "dict", "object", "none", "string", "other")


def _is_plain(primal: str, index: Node, facts: Facts) -> bool:
    """Whether a part of a container is a number or an array, to which `+=` adds."""
    if facts.list_kind(primal) or isinstance(index, gast.Slice):
        return False
    kind = facts.kinds.of_names.get(primal)
    literal = isinstance(getattr(index, "operand", index), gast.Constant)
    if not literal and _lacks_numbers(facts.activity.definition.get(primal)):
        return False
    if kind is None:
        return True
    found = part_of(kind, index).tag
    if found == "unknown" and not literal and any(part.tag in _NO_SUMS for _, part in kind.items):
        return False  # items of several kinds: `+=` would join two tuples, and has none of None
    return found in ("scalar", "array", "unknown")


def _lacks_numbers(node: Node | None) -> bool:
    """Whether a statement binds a display of which an item is no number: `[w, "id", None]`."""
    items = getattr(getattr(node, "value", None), "elts", None) or []
    literals = [one.value for one in items if isinstance(one, gast.Constant)]
    return not all(isinstance(one, int | float | complex) for one in literals)


def is_list(value: Node) -> bool:
    """Whether an expression makes a list."""
    called = getattr(value.func, "id", "") if isinstance(value, gast.Call) else ""
    return isinstance(value, gast.List) or called == "list"


def is_fresh_value(value: Node, facts: Facts) -> bool:
    """Whether an expression makes an array that nothing else holds."""
    if isinstance(value, gast.BinOp):
        return True
    if isinstance(value, gast.UnaryOp):
        return isinstance(value.op, gast.USub)
    function = function_called(value, facts)
    if function is runtime.sum_to:
        return is_fresh_value(value.args[0], facts)
    if function is None and isinstance(getattr(value, "func", None), gast.Attribute):
        return makes_new(METHODS.get(value.func.attr), value, [value.func.value])
    return isinstance(value, gast.Call) and makes_new(function, value)
