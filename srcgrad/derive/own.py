"""What the rules of users contribute: several adjoints at once, one output at a time, or added in place."""

from __future__ import annotations

from dataclasses import replace

import gast

from srcgrad.analyse.outputs import outputs
from srcgrad.derive.adjoints import Adjoints
from srcgrad.derive.decide import Setting
from srcgrad.derive.displays import is_active, sequence
from srcgrad.derive.harmless import check_harmless
from srcgrad.derive.instantiate import Lines, instantiate
from srcgrad.derive.pulled import Pair, unpacked
from srcgrad.derive.states import PRESENT
from srcgrad.derive.unknown import check_known
from srcgrad.facts import Operation, copied
from srcgrad.own import Own
from srcgrad.rules import Rule
from srcgrad.template import Template, adjoint_template, parse
from srcgrad.trees import Block, Node, assign, constant, expression, stores


def own_contributions(node: Node, operation: Operation, read: Node, adjoints: Adjoints, shared: Block) -> list[Pair]:
    """The contributions of a call of a user's function, `read` being the adjoint of what it gives."""
    rule, template, own = _of(operation)
    wanted = [p for p, a in operation.bound.items() if p in template.differentiable and is_active(a, adjoints.facts)]
    check_known(node.value, rule, wanted, adjoints.facts)
    check_harmless(operation, adjoints.facts)
    if own.index:
        found: list[Pair] = []
        for place, part in _parts(node, operation, read, adjoints):
            one = replace(operation, bound={**operation.bound, own.index: constant(place)})
            found += _contributions(node, one, part, wanted, adjoints, shared)
        return found
    added = [p for p in wanted if p in own.accumulators and _adds(p, operation, adjoints)]
    for parameter in added:
        _add(node, operation, read, parameter, adjoints, shared)
    return _contributions(node, operation, read, [p for p in wanted if p not in added], adjoints, shared)


def _of(operation: Operation) -> tuple[Rule, Template, Own]:
    rule = operation.rule
    assert rule is not None and rule.own is not None, "a rule of a user"
    template = adjoint_template(rule)
    assert template is not None, "the caller has looked"
    return rule, template, rule.own


def _contributions(
    node: Node, operation: Operation, read: Node, wanted: list[str], adjoints: Adjoints, shared: Block
) -> list[Pair]:
    facts = adjoints.facts
    _, template, _ = _of(operation)
    setting = Setting(template, operation, facts, node.targets[0].id, facts.spec[node], {template.result: read})
    made = instantiate(setting, frozenset(wanted))
    operands = {line.parameter: operation.bound[line.parameter] for line in made.lines}
    if len(made.shared) == 1 and _are_parts(made, operands):
        given = [operands.get(parameter) for parameter in template.differentiable]
        return unpacked(made.shared[0].value, given, node, adjoints, shared)
    shared += made.shared
    pairs: list[Pair] = []
    for line in made.lines:
        operand = operands[line.parameter]
        if isinstance(operand, gast.Name):
            pairs.append((copied(operand, facts), line.value))
        else:
            pairs += sequence(operand, line.value, facts, shared)
    return pairs


def _are_parts(made: Lines, operands: dict[str, Node]) -> bool:
    """Whether each line is `t[0]`, of what the shared line binds, for an operand with a name."""
    values = [line.value for line in made.lines]
    wholes = [value.value for value in values if isinstance(value, gast.Subscript)]
    named = all(isinstance(operand, gast.Name) for operand in operands.values())
    held = stores(made.shared[0])
    return named and len(wholes) == len(values) and all(getattr(whole, "id", "") in held for whole in wholes)


def by_output(primal: str, names: list[str], adjoints: Adjoints) -> bool:
    """Whether `s, c = t` unpacks what a rule takes one output at a time: those that matter are noted."""
    facts = adjoints.facts
    operation = facts.operation.get(getattr(facts.definition.get(primal), "value", None))
    if operation is None or operation.rule is None or operation.rule.own is None or not operation.rule.own.index:
        return False
    spec = facts.value_spec
    adjoints.outputs[primal] = [
        (place, adjoints.read(one, spec.get(one)))
        for place, one in enumerate(names)
        if one in facts.active and adjoints.exists(one)
    ]
    adjoints.state[primal] = PRESENT
    return True


def _parts(node: Node, operation: Operation, read: Node, adjoints: Adjoints) -> list[tuple[int, Node]]:
    """The adjoints of the outputs that matter, each with its place."""
    noted = adjoints.outputs.pop(node.targets[0].id, None)
    if noted is not None:
        return noted
    facts, count = adjoints.facts, outputs(operation, adjoints.facts)
    if count is None:
        raise facts.refuse(
            node.value,
            "E5005",
            "it cannot be told how many outputs the call has",
            "unpack them where it is called: `a, b = F.apply(...)`",
        )
    if count == 0:
        return [(0, read)]
    return [(place, expression(f"t_bar[{place}]", t_bar=copied(read, facts))) for place in range(count)]


def _adds(parameter: str, operation: Operation, adjoints: Adjoints) -> bool:
    """Whether a rule adds to an adjoint: one that is there, or where there is no other rule for the argument."""
    operand, facts = operation.bound[parameter], adjoints.facts
    rule, _, own = _of(operation)
    if parameter in own.sensitivities and (facts.module.inline or not isinstance(operand, gast.Name)):
        return False  # what is differentiated again changes nothing
    if not isinstance(operand, gast.Name):
        raise facts.refuse(
            operand,
            "E5003",
            f"{rule.name} has no rule for a display as its argument `{parameter}` but one that adds in place",
            f"write `@srcgrad.sensitivity(..., arg={parameter!r})` for it as well, or give the argument a name",
        )
    return adjoints.exists(operand.id) or parameter not in own.sensitivities


def _add(node: Node, operation: Operation, read: Node, parameter: str, adjoints: Adjoints, shared: Block) -> None:
    """`x_bar = f_add(x_bar, z, z_bar, x)`, which changes the array in place."""
    facts, operand = adjoints.facts, operation.bound[parameter]
    _, _, own = _of(operation)
    spec = facts.spec.get(operand)
    if not adjoints.exists(operand.id):
        shared.append(adjoints.element_zeros(operand.id, spec, node))
    adding = parse(own.adding)
    derivatives = {adding.result: read, parameter: adjoints.read(operand.id, spec)}
    setting = Setting(adding, operation, facts, node.targets[0].id, facts.spec[node], derivatives)
    [line] = instantiate(setting, frozenset([parameter])).lines
    made = assign(adjoints.of(operand.id), line.value, node)
    adjoints.note(made, spec)
    shared.append(made)
    facts.elements[adjoints.of(operand.id)] = None
    adjoints.state[operand.id] = PRESENT
