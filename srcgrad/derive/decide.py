"""What the names of a template stand for in one call, and what that decides of the template's `if`s."""

from __future__ import annotations

from dataclasses import field

import gast

from srcgrad.analyse.complexes import may_be_complex
from srcgrad.converted import literal_value
from srcgrad.derive.pruned import Lost
from srcgrad.facts import Facts, Operation, Spec
from srcgrad.frozen import record
from srcgrad.template import Template
from srcgrad.trees import Node


@record(frozen=True)
class Setting:
    """What the names of a template stand for in one call."""

    template: Template
    operation: Operation
    facts: Facts
    result: str
    spec: Spec
    derivatives: dict[str, Node]  # parameter or result -> tree of its adjoint or tangent
    general: bool = False  # whether to take the lines that hold for any ranks
    lost: Lost = field(default_factory=Lost)  # names among the derivatives that stand for zeros
    parts: tuple[str, ...] = ()  # the names to which several results are bound; else the result has one name
    part_derivatives: tuple[Node, ...] = ()  # ... and their adjoints
    conjugate: bool = False  # whether to conjugate what the derivatives are multiplied with


def truth(test: Node, setting: Setting) -> bool | None:
    """The value of a template's test, from literals and known ranks; None where it cannot be decided.

    `and` and `or` are decided as soon as one side decides them.
    """
    if isinstance(test, gast.BoolOp):
        sides = [truth(value, setting) for value in test.values]
        decisive = isinstance(test.op, gast.Or)
        if decisive in sides:
            return decisive
        return None if None in sides else not decisive
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        inner = truth(test.operand, setting)
        return None if inner is None else not inner
    if isinstance(test, gast.Compare) and len(test.ops) == 1:
        one, two = value_of(test.left, setting), value_of(test.comparators[0], setting)
        if one is UNDECIDED or two is UNDECIDED:
            return None
        return _compare(test.ops[0], one, two)
    value = value_of(test, setting)
    return None if value is UNDECIDED else bool(value)


UNDECIDED = object()


def _compare(op: Node, one: object, two: object) -> bool | None:
    if isinstance(op, gast.Is | gast.IsNot):
        return (one is two) == isinstance(op, gast.Is)
    if isinstance(op, gast.Eq | gast.NotEq):
        return bool(one == two) == isinstance(op, gast.Eq)
    if isinstance(op, gast.In | gast.NotIn) and isinstance(two, tuple | list):
        return (one in two) == isinstance(op, gast.In)
    if isinstance(one, int | float) and isinstance(two, int | float):
        order = {gast.Lt: one < two, gast.LtE: one <= two, gast.Gt: one > two, gast.GtE: one >= two}
        return order.get(type(op))
    return None


def value_of(node: Node, setting: Setting) -> object:
    """The value of a literal, of a parameter bound to a literal, or of `np.ndim(parameter)`."""
    if isinstance(node, gast.Name) and node.id in setting.template.parameters:
        bound = setting.operation.bound.get(node.id, setting.template.defaults.get(node.id))
        return UNDECIDED if bound is None else literal_of(bound)
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr == "iscomplexobj":
        return _is_complex(node.args[0].id, setting)
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr == "ndim":
        if setting.general:
            return UNDECIDED
        argument = node.args[0]
        if isinstance(argument, gast.Name) and argument.id == setting.template.result:
            return UNDECIDED if setting.spec.ndim is None else setting.spec.ndim
        bound = setting.operation.bound.get(argument.id) if isinstance(argument, gast.Name) else None
        rank = None if bound is None else rank_of(bound, setting.facts)
        return UNDECIDED if rank is None else rank
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mod):
        one, two = value_of(node.left, setting), value_of(node.right, setting)
        return one % two if isinstance(one, int | float) and isinstance(two, int | float) else UNDECIDED
    return literal_of(node)


def _is_complex(name: str, setting: Setting) -> bool:
    """Whether an argument, or the result, may be complex."""
    argument = setting.operation.bound.get(name)
    if name == setting.template.result:
        rule = setting.operation.rule
        return (rule is not None and rule.values == "complex") or any(
            may_be_complex(part, setting.facts) for part in setting.operation.bound.values()
        )
    return argument is not None and may_be_complex(argument, setting.facts)


def rank_of(node: Node, facts: Facts) -> int | None:
    """The rank of an operand, where it is known."""
    if isinstance(node, gast.Constant) and isinstance(node.value, int | float | complex):
        return 0
    spec = facts.spec.get(node)
    return None if spec is None else spec.ndim


def literal_of(node: Node) -> object:
    """The value of a literal; UNDECIDED for anything else."""
    try:
        return literal_value(node)
    except (ValueError, TypeError, SyntaxError):
        return UNDECIDED
