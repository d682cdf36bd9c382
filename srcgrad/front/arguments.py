"""The arguments of a call by the parameters of a rule; what the rule does not handle is refused by name."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any  # operations are arbitrary Python objects

import gast
import numpy as np

from srcgrad.facts import Facts
from srcgrad.identity import is_distribution
from srcgrad.rules import Rule, rule_of
from srcgrad.template import Template, adjoint_template, tangent_template
from srcgrad.trees import Node


def instead(rule: Rule, bound: dict[str, Node], facts: Facts) -> Rule | None:
    """The rule that holds for a call's literals, where it is another one; values that no rule knows are refused."""
    found = None
    for parameter in rule.literals:
        argument = bound.get(parameter)
        if argument is None:
            continue
        if not _is_known(rule, parameter, argument):
            raise _unhandled(rule, f"`{parameter}={gast.unparse(argument)}`", argument, facts)
        for name, special, op in rule.instead:
            if name == parameter and argument.value == special:
                found = rule_of(op)
    return found


def _is_known(rule: Rule, parameter: str, value: Node) -> bool:
    """Whether an argument is written out, as one of the values that the rule knows."""
    known = rule.literals.get(parameter, ())
    literal = value.value if isinstance(value, gast.Constant) else _NOTHING
    return any(literal is one or (isinstance(one, str) and literal == one) for one in known)


def check_handled(
    rule: Rule, composition: Callable[..., Any], arguments: list[Node], keywords: list[Node], facts: Facts
) -> None:
    """Refuse an argument that the op may know and its composition does not."""
    given = inspect.signature(composition).parameters.values()
    places = [p for p in given if p.kind is not inspect.Parameter.KEYWORD_ONLY]
    if len(arguments) > len(places) and all(p.kind is not inspect.Parameter.VAR_POSITIONAL for p in places):
        raise _unhandled(rule, f"positional argument {len(places) + 1}", arguments[len(places)], facts)
    for word in keywords:
        if all(p.name != word.arg for p in given):
            raise _unhandled(rule, f"`{word.arg}=`", word.value, facts)


def bind_arguments(
    rule: Rule, arguments: list[Node], keywords: list[Node], node: Node, facts: Facts
) -> dict[str, Node]:
    """Arguments by the template's parameter names; what the rule does not handle is refused by name."""
    template = adjoint_template(rule) or tangent_template(rule)
    assert template is not None, "a rule that is not constant has a template"
    order, variadic, defaults = _parameters(rule.op, template)
    if rule.own is not None and rule.own.applied is not None:
        order, variadic, defaults = template.positional, False, {}
    shapes = _shapes(rule.op, template)
    given: dict[str, Node] = {}
    rest: list[Node] = []
    for position, argument in enumerate(arguments):
        if position < len(order):
            given[order[position]] = argument
        elif variadic and template.variadic:
            rest.append(argument)
        else:
            raise _unhandled(rule, f"positional argument {position + 1}", argument, facts)
    for word in keywords:
        clipped = _CLIP.get(word.arg, word.arg) if rule.op is np.clip else word.arg
        given[shapes.get(clipped, clipped)] = word.value
    for name, value in list(given.items()):
        if name not in template.parameters:
            if _is_default(value, defaults.get(name, _NOTHING)) or _is_known(rule, name, value):
                del given[name]
            else:
                raise _unhandled(rule, f"`{name}=`", value, facts)
    if variadic and template.variadic:
        given[template.variadic] = gast.Tuple(elts=rest, ctx=gast.Load())
    for name in template.parameters:
        if name not in given and name not in template.defaults:
            raise _unhandled(rule, f"a call without `{name}`", node, facts)
    return {name: given[name] for name in template.parameters if name in given}


_NOTHING = object()
_CLIP = {"min": "a_min", "max": "a_max"}  # `np.clip` and `.clip` know their bounds by two names


def _shapes(op: Any, template: Template) -> dict[str, str]:
    """The names of a distribution's shape parameters, and those of the template that stand in their places."""
    shapes = getattr(getattr(op, "__self__", None), "shapes", None)
    names = shapes.replace(",", " ").split() if isinstance(shapes, str) else []
    return dict(zip(names, template.positional[1:], strict=False))


def _parameters(op: Any, template: Template) -> tuple[tuple[str, ...], bool, dict[str, Any]]:
    """Positional names, whether more may follow, defaults: the op's own where it tells, else the template's."""
    fixed, own, variadic = template.positional, template.parameters, template.variadic
    if isinstance(op, np.ufunc) or op is operator.getitem:
        return fixed, False, {"out": None, "where": True}
    if is_distribution(getattr(op, "__self__", None)) and hasattr(op.__self__, "shapes"):  # takes any keyword
        return fixed, False, {}
    try:
        parameters = _of_numpy(op) if isinstance(op, _NUMPYS_OWN) else list(inspect.signature(op).parameters.values())
    except (ValueError, TypeError):
        return fixed, variadic is not None, {}
    kinds = inspect.Parameter
    order = [p.name for p in parameters if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    for position, own_name in enumerate(fixed[: len(order)]):
        if order[position] not in own and own_name not in order:
            order[position] = own_name  # `self` of a method, names of C functions
    more = any(p.kind is kinds.VAR_POSITIONAL for p in parameters)
    defaults = {p.name: p.default for p in parameters if p.default is not kinds.empty}
    if not order and not template.variadic:
        order, more = list(fixed), False
    return tuple(order), more, defaults


_NUMPYS_OWN = type(np.dot)  # the functions for which other arrays may have their own; they stay what they are


@lru_cache(maxsize=1024)
def _of_numpy(op: Any) -> list[inspect.Parameter]:
    """The parameters of a function of NumPy: those in C have a text, which takes long to read."""
    return list(inspect.signature(op).parameters.values())


def _is_default(value: Node, default: object) -> bool:
    return isinstance(value, gast.Constant) and default is not _NOTHING and value.value is default


def _unhandled(rule: Rule, what: str, node: Node, facts: Facts) -> Exception:
    return facts.refuse(
        node,
        "E5006",
        f"the rule of {rule.name} does not handle {what}",
        f"it handles: {', '.join(rule.parameters)}; compute the rest in separate operations",
    )
