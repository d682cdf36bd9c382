"""What the rules of users contribute: all adjoints at once where one function gives them."""

from __future__ import annotations

import gast

from srcgrad.derive.adjoints import Adjoints
from srcgrad.derive.instantiate import Lines
from srcgrad.derive.pulled import Pair, unpacked
from srcgrad.derive.unknown import check_known
from srcgrad.facts import Operation
from srcgrad.template import adjoint_template
from srcgrad.trees import Block, Node, stores


def adjoints_of_rule(
    node: Node, operation: Operation, made: Lines, adjoints: Adjoints, shared: Block
) -> list[Pair] | None:
    """`x_bar, y_bar = f_vjp((x, y), z_bar, z)` for a rule that gives several; None where its lines are as any."""
    rule = operation.rule
    assert rule is not None and rule.own is not None, "a rule of a user"
    check_known(node.value, rule, [line.parameter for line in made.lines], adjoints.facts)
    template = adjoint_template(rule)
    assert template is not None, "its lines were made from it"
    operands = {line.parameter: operation.bound[line.parameter] for line in made.lines}
    named = all(isinstance(operand, gast.Name) for operand in operands.values())
    if len(made.shared) != 1 or not named or not all(_is_part(line.value, made.shared[0]) for line in made.lines):
        return None
    shared.remove(made.shared[0])
    given = [operands.get(parameter) for parameter in template.differentiable]
    return unpacked(made.shared[0].value, given, node, adjoints, shared)


def _is_part(value: Node, held: Node) -> bool:
    """`t[0]`, of what the shared line binds."""
    whole = value.value if isinstance(value, gast.Subscript) else None
    return isinstance(whole, gast.Name) and whole.id in stores(held)
