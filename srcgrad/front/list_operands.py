"""Which operations cannot take a list as it is: those whose rules compute with it by operators, as with an array."""

from __future__ import annotations

import inspect
from functools import lru_cache, reduce
from typing import Any  # templates are arbitrary functions

import gast

from srcgrad.front.mirrored import SAME
from srcgrad.rules import Rule, rule_of
from srcgrad.template import Template, adjoint_template, derivative_of, parse, tangent_template
from srcgrad.trees import Node, called, walk

ARRAYS_ALONE = ("take_along_axis", "put_along_axis", "split")  # functions of NumPy that ask what they get for its axes


def needs_array(rule: Rule, parameter: str, *, forward: bool) -> bool:
    """Whether a rule holds for an array of the items, and not for a list of them: operators mean its own there.

    In forward mode a tangent is a list as well, with which an elementwise rule multiplies.

    >>> import numpy as np, srcgrad.templates as templates
    >>> from srcgrad.rules import rule_of
    >>> templates.load()
    >>> needs_array(rule_of(np.dot), "a", forward=False), needs_array(rule_of(np.sum), "x", forward=False)
    (True, False)
    """
    if forward and rule.kind in ("elementwise", "multilinear"):
        return True
    if rule.kind == "elementwise" and len(rule.parameters) > 1:
        return True  # what compares or scales two values is given arrays by the engine's own helpers
    pushed = tangent_template(rule) if forward or rule.template is None else None
    if pushed is not None and (_computes(pushed, parameter) or _hands_tangent(pushed, parameter)):
        return True
    template = adjoint_template(rule)
    return template is not None and _computes(template, parameter)


@lru_cache(maxsize=1024)
def composition_needs_array(composition: Any, parameter: str, *, forward: bool = False) -> bool:
    """The same of an operation that is written out with others, of which it gives them the list."""
    known = inspect.signature(composition).parameters
    if parameter not in known:
        return False
    body = parse_composition(composition)
    return _any_operand(body, parameter) or (forward and _pushes(body, parameter, parse(composition).namespace))


def _pushes(body: tuple[Node, ...], parameter: str, names: dict[str, Any]) -> bool:
    """Whether an operation of a composition is given the list, and in forward mode computes with its tangent."""
    for node in [item for statement in body for item in walk(statement) if isinstance(item, gast.Call)]:
        if any(getattr(argument, "id", "") == parameter for argument in node.args):
            held, *attributes = gast.unparse(node.func).split(".")
            rule = rule_of(reduce(lambda found, one: getattr(found, one, None), attributes, names.get(held)))
            if rule is not None and rule.kind in ("elementwise", "multilinear"):
                return True
    return False


def _hands_tangent(template: Template, parameter: str) -> bool:
    """Whether the tangent of a parameter is the result's as it is, or is given to what takes arrays alone."""
    for node in [item for statement in template.body for item in walk(statement)]:
        if isinstance(node, gast.Assign):
            values = node.value.elts if isinstance(node.value, gast.Tuple) else [node.value]
            if any(derivative_of(value) == parameter for value in values):
                return True
        if isinstance(node, gast.Call) and gast.unparse(node.func).rpartition(".")[2] in ARRAYS_ALONE:
            if any(derivative_of(argument) == parameter for argument in node.args):
                return True
    return False


def parse_composition(composition: Any) -> tuple[Node, ...]:
    """The statements of a composition: it is spelled like a template, with no result among its parameters."""
    return parse(composition).body


def _computes(template: Template, parameter: str) -> bool:
    return _any_operand(template.body, parameter)


def _any_operand(body: tuple[Node, ...], parameter: str) -> bool:
    return any(_is_list(one, parameter) for statement in body for node in walk(statement) for one in _operands(node))


def _operands(node: Node) -> list[Node]:
    """What an expression computes with by an operator, an attribute or an index."""
    if isinstance(node, gast.BinOp):
        pairs = ((node.left, node.right), (node.right, node.left))
        return [one for one, other in pairs if derivative_of(one) is None or not isinstance(other, gast.Call)]
    if isinstance(node, gast.UnaryOp):
        return [node.operand]
    if isinstance(node, gast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, gast.Attribute):
        return [node.value]
    return [node.value] if isinstance(node, gast.Subscript) and derivative_of(node) is None else []


def _is_list(node: Node, parameter: str) -> bool:
    """Whether an expression of a template is a list where the parameter is one: itself, its tangent, its mirror."""
    if isinstance(node, gast.Name):
        return bool(node.id == parameter)
    if derivative_of(node) == parameter:
        return True
    place = SAME.get(called(node))
    return place is not None and place < len(node.args) and _is_list(node.args[place], parameter)
