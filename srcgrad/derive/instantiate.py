"""From a template and a call to the lines of the derivative: names substituted, static `if`s decided."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from types import FunctionType

import gast

from srcgrad.analyse.adjoint_shapes import spec_of_tree
from srcgrad.facts import Facts, Operation, Spec, copied
from srcgrad.template import Template, derivative_of
from srcgrad.trees import Block, Node, assign, constant, name, walk


@dataclass(frozen=True)
class Line:
    """One line of an instantiated template: the derivative that belongs to `parameter` gets `value`."""

    parameter: str
    value: Node


@dataclass
class Lines:
    """What a template says about one call: shared work first, then the lines."""

    shared: Block = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)


@dataclass(frozen=True)
class Setting:
    """What the names of a template stand for in one call."""

    template: Template
    operation: Operation
    facts: Facts
    result: str
    spec: Spec
    derivatives: dict[str, Node]  # parameter or result -> tree of its adjoint or tangent
    general: bool = False  # whether to take the lines that hold for any ranks


def instantiate(setting: Setting, wanted: frozenset[str]) -> Lines:
    """The lines of the template for the parameters in `wanted` (for a tangent template: for the result)."""
    chosen = _decide(setting.template.body, setting)
    made = Lines()
    local: dict[str, Node] = {}
    kept = [s for s in chosen if (derivative_of(s.targets[0]) or "") in wanted]
    uses = _local_uses(chosen, kept)
    for node in chosen:
        belongs = derivative_of(node.targets[0])
        if belongs is None:
            bound = node.targets[0].id
            if uses.get(bound, 0) == 0:
                continue
            value = fill(node.value, setting, local)
            if uses[bound] == 1:
                local[bound] = value
            else:
                held = setting.facts.names.fresh(f"t{len(setting.facts.temporaries) + 1}")
                setting.facts.temporaries[held] = "t"
                made.shared.append(assign(held, value))
                local[bound] = name(held)
                setting.facts.spec[local[bound]] = spec_of_tree(value, setting.facts)
        elif belongs in wanted:
            made.lines.append(Line(belongs, fill(node.value, setting, local)))
    return made


def _local_uses(chosen: list[Node], kept: list[Node]) -> dict[str, int]:
    """How often each local name of the template is read by lines that are wanted."""
    uses: dict[str, int] = {}
    for node in reversed(chosen):
        local = isinstance(node.targets[0], gast.Name)
        if not local and node not in kept:
            continue
        if local and not uses.get(node.targets[0].id):
            continue
        for item in walk(node.value):
            if isinstance(item, gast.Name):
                uses[item.id] = uses.get(item.id, 0) + 1
    return uses


def _decide(body: tuple[Node, ...] | list[Node], setting: Setting) -> list[Node]:
    """The assignments that hold for this call: each `if` taken, passed by, or left to its `else`."""
    chosen = []
    for node in body:
        if isinstance(node, gast.If):
            chosen += _decide(node.body if truth(node.test, setting) else node.orelse, setting)
        elif isinstance(node, gast.Assign):
            chosen.append(node)
    return chosen


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
        return UNDECIDED if bound is None else _literal(bound)
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr == "ndim":
        if setting.general:
            return UNDECIDED
        argument = node.args[0]
        if isinstance(argument, gast.Name) and argument.id == setting.template.result:
            return UNDECIDED if setting.spec.ndim is None else setting.spec.ndim
        bound = setting.operation.bound.get(argument.id) if isinstance(argument, gast.Name) else None
        rank = None if bound is None else rank_of(bound, setting.facts)
        return UNDECIDED if rank is None else rank
    return _literal(node)


def rank_of(node: Node, facts: Facts) -> int | None:
    """The rank of an operand, where it is known."""
    if isinstance(node, gast.Constant) and isinstance(node.value, int | float | complex):
        return 0
    spec = facts.spec.get(node)
    return None if spec is None else spec.ndim


def _literal(node: Node) -> object:
    try:
        return gast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return UNDECIDED


def fill(node: Node, setting: Setting, local: dict[str, Node]) -> Node:
    """A template expression with its names replaced by what they stand for in this call."""
    belongs = derivative_of(node)
    if belongs is not None:
        return copied(setting.derivatives[belongs], setting.facts)
    if isinstance(node, gast.Name):
        return _filled(node, setting, local)
    made = type(node)()
    for key in node._fields:
        part = getattr(node, key, None)
        if isinstance(part, list):
            part = [fill(p, setting, local) if isinstance(p, gast.AST) else p for p in part]
        elif isinstance(part, gast.AST) and part._fields:
            part = fill(part, setting, local)
        setattr(made, key, part)
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Name):
        _spread_arguments(made)
        _drop_defaults(made, setting.template.namespace.get(node.func.id))
    return folded(made)


def _spread_arguments(call: Node) -> None:
    """`g(*xs)` with the arguments that `xs` stands for."""
    for item in [each for each in call.args if isinstance(each, gast.Starred)]:
        place = call.args.index(item)
        call.args[place : place + 1] = item.value.elts


def _drop_defaults(call: Node, function: object) -> None:
    """Leave out the last arguments of a call of a helper where they are its defaults: `share(g, a, y, 1, False)`."""
    if not isinstance(function, FunctionType) or call.keywords:
        return
    parameters = list(inspect.signature(function).parameters.values())
    while 0 < len(call.args) <= len(parameters) and isinstance(call.args[-1], gast.Constant):
        default = parameters[len(call.args) - 1].default
        if type(default) is not type(call.args[-1].value) or default != call.args[-1].value:
            return
        call.args.pop()


def folded(node: Node) -> Node:
    """A sum or difference of two numbers as one: `3 - 1`, the exponent in the derivative of `x ** 3`, is 2."""
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Add | gast.Sub):
        left, right = _literal(node.left), _literal(node.right)
        if isinstance(left, int | float) and isinstance(right, int | float):
            total = left + right if isinstance(node.op, gast.Add) else left - right
            return constant(total) if total == round(total, 9) else node  # 1.1 - 1 would print its rounding
    return node


def _filled(node: Node, setting: Setting, local: dict[str, Node]) -> Node:
    template, facts = setting.template, setting.facts
    if node.id in local:
        return copied(local[node.id], facts)
    if node.id == template.result:
        made = name(setting.result)
        facts.spec[made] = setting.spec
        facts.results[made] = None
        return made
    if node.id in setting.operation.bound:
        return copied(setting.operation.bound[node.id], facts)
    if node.id in template.parameters:
        return copied(template.defaults.get(node.id) or constant(None), facts)
    value = template.namespace.get(node.id)
    if isinstance(value, int | float):
        return constant(value)
    return name(facts.library(node.id, value))
