"""Where reverse mode needs an adjoint at all: where the value depends on what is differentiated.

Elsewhere the adjoint is left out further up: `p_bar = if_larger(0.5 * g / r, p, 0.0)` drops what the root of a clamped
value gives where p is negative, and `r` must not be 0 there, for `g / 0.0` warns.
"""

from __future__ import annotations

import gast
import numpy as np

from srcgrad.analysis.activity import differentiable_parameters
from srcgrad.core.facts import Facts, Operation
from srcgrad.core.rules import adjoint_template
from srcgrad.core.trees import Block, Node, at, loads, name, stores, walk, written_names
from srcgrad.core.visitor import rewrite_statements
from srcgrad.derive.instantiate_rules import Lines, Setting, instantiate, square_operation
from srcgrad.derive.masks import Mask
from srcgrad.derive.tangent_masks import is_singular, mask_terms, move_support, tangents_to_follow


def bind_needed_masks(function: Node, facts: Facts) -> None:
    """Bind masks of values beside these, of those that meet a factor which may not be finite.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(p):\\n    return np.sum(np.sqrt(np.maximum(p, 0.0)))"
    >>> lines = explain_text(text, after="inline").splitlines()
    >>> [line.strip() for line in lines if "np.where" in line]
    ['t3_bar = 0.5 * y_bar / np.where(p >= 0.0, np.sqrt(np.maximum(p, 0.0)), 1.0)']
    """
    facts.sought = tangents_to_follow(function, facts, _warns)
    if facts.sought:
        function.body = rewrite_statements(function.body, lambda node: [node, *_mask_statements(node, facts)])


_LOGARITHMS = (np.log, np.log2, np.log10, np.log1p)  # infinite where their derivatives are


def _warns(node: Node, facts: Facts) -> bool:
    """Whether a derivative divides by zero where the function does not: that of a root, not that of a logarithm."""
    operation = facts.operation.get(getattr(node, "value", None))
    if operation is None or operation.rule is None or operation.rule.op in _LOGARITHMS:
        return False
    powers = [one.value for one in operation.bound.values() if isinstance(one, gast.Constant)]
    whole = any(isinstance(one, int) and one > 0 for one in powers)
    return is_singular(node, facts) and not (operation.rule.op is np.power and whole)


def _mask_statements(node: Node, facts: Facts) -> Block:
    """The statements that bind the mask of what a statement binds."""
    if not isinstance(node, gast.Assign) or written_names(node):
        return []
    operation = facts.operation.get(node.value)
    bound = stores(node)
    if len(bound) != 1 or bound[0] not in facts.sought or operation is None or operation.rule is None:
        return []
    operation = square_operation(operation, facts)
    rule = operation.rule
    if rule is None:
        return []
    taken = differentiable_parameters(rule)
    operands = {p: one for p, one in operation.bound.items() if p in taken and isinstance(one, gast.Name)}
    active = [parameter for parameter, one in operands.items() if one.id in facts.active]
    shared: Block = []
    if active and rule.kind == "linear":
        move_support(node, operation, active, facts, shared)
    elif active and rule.kind == "elementwise":
        found = [_line(node, operation, parameter, facts) for parameter in active]
        mask_terms(node, found, facts)
        shared = [each for lines, _, _ in found for each in lines.shared]
    mask = facts.supports.get(bound[0])
    return [] if mask is None else _of(mask, shared, node, facts)


def _line(node: Node, operation: Operation, parameter: str, facts: Facts) -> tuple[Lines, str, str]:
    """What the rule of an operation says of the tangent of one operand, the operand, and the name of its tangent."""
    assert operation.rule is not None, "an op has a rule"
    template = adjoint_template(operation.rule)
    assert template is not None, "an elementwise rule has a template"
    operand = operation.bound[parameter]
    tangent = name(f"tangent of {operand.id}")  # in no text
    if operand in facts.spec:
        facts.spec[tangent] = facts.spec[operand]
    setting = Setting(template, operation, facts, stores(node)[0], facts.spec[node], {template.result: tangent})
    return instantiate(setting, frozenset([parameter])), operand.id, tangent.id


def _of(mask: Mask, shared: Block, node: Node, facts: Facts) -> Block:
    """Of the statements of a tangent those that a mask is made of, as statements of the function."""
    wanted = {mask.held}
    made: Block = []
    for each in reversed(shared):
        bound = stores(each)
        if wanted.isdisjoint(bound) or any(" " in read for read in loads(each)):
            continue
        wanted.update(loads(each))
        made.insert(0, at(each, node))
        facts.origin[each] = facts.origin.get(node, node)
        facts.definition[bound[0]] = each
        facts.foreign.update({part: None for part in walk(each) if isinstance(part, gast.Compare)})
    return made
