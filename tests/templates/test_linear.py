"""What rules say of the arguments in which an operation is linear: by running their forms."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import gast
import numpy as np
import pytest

from srcgrad.core.rules import Rule, adjoint_template, arguments_of, linear_arguments, rule_of, written_out
from srcgrad.core.trees import parse_tree
from tests.templates.rule_cases import LETTERS, Case, cases, differentiable_rules, namespace

STEPS = ("np.remainder", "np.fmod", "np.heaviside", "np.copysign", "np.floor_divide")  # linear between their steps
RULES = [rule for rule in differentiable_rules() if linear_arguments(rule) and rule.name not in STEPS]
GENERAL = [rule for rule in differentiable_rules() if rule.kind == "general" and rule.name.startswith("np.")]


def leaves(value: Any) -> Iterator[np.ndarray]:
    for item in value if isinstance(value, list | tuple) else ():
        yield from leaves(item)
    if not isinstance(value, list | tuple):
        yield np.asarray(value)


def given(case: Case) -> Iterator[tuple[str, int]]:
    """Parameters that get one of the drawn arguments as it is, and which one."""
    call = parse_tree(case.call).body[0].value
    if not isinstance(call, gast.Call):
        return
    function = eval(gast.unparse(call.func), namespace(case.rule))
    known = rule_of(function)
    if known is case.rule and written_out(known, call.args, call.keywords) is None and "int)" not in case.call:
        names = [n.id for n in gast.walk(call) if isinstance(n, gast.Name)]
        for parameter, value in arguments_of(function, call).items():
            if isinstance(value, gast.Name) and value.id in LETTERS and names.count(value.id) == 1:
                yield parameter, LETTERS.index(value.id)


def is_linear(case: Case, place: int) -> bool:
    """Whether the value half way between two arguments is half way between the two values."""
    drawn = list(case.arguments())
    one = np.asarray(drawn[place])
    two = 0.37 * one[::-1] if one.ndim else 0.37 * one
    found = []
    for value in (one, two, 0.5 * (one + two)):
        drawn[place] = value.item() if case.shapes[place] is None else value
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(list(leaves(case.function(*drawn))))
    return all(np.allclose(0.5 * (a + b), c, rtol=1e-6, atol=1e-6) for a, b, c in zip(*found, strict=True))


@pytest.mark.parametrize("part", range(4))
def test_what_is_said_to_be_linear_is(part: int) -> None:
    wrong = [
        f"{rule.name}, {case}: {parameter}"
        for rule in RULES[part::4]
        for case in cases(rule)
        for parameter, place in given(case)
        if parameter in linear_arguments(rule) and case.domains[place] is not None and not is_linear(case, place)
    ]
    assert wrong == []


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.name) for rule in GENERAL if rule.complex == "conjugated"])
def test_a_general_rule_says_in_what_it_is_linear(rule: Rule) -> None:
    """Where complex numbers are taken: what it does not say is looked at when a text runs."""
    seen: dict[str, list[bool]] = {}
    for case in cases(rule):
        for parameter, place in given(case):
            if case.domains[place] is not None:
                seen.setdefault(parameter, []).append(is_linear(case, place))
    template = adjoint_template(rule)
    active = () if template is None else template.differentiable
    missing = [p for p in active if all(seen.get(p, [False])) and p not in (*rule.linear, *rule.factors)]
    assert missing == []
