"""What rules say of results and their memory: by running the forms of each, and the derivatives of what shares it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import gast
import numpy as np
import pytest

import srcgrad
from srcgrad.core.rules import Rule, arguments_of, may_show, rule_of
from srcgrad.core.trees import parse_tree
from tests.templates.rule_cases import Case, cases, differentiable_rules, namespace, sampled

RULES = [rule for rule in differentiable_rules() if sampled(rule)]
PARTS = 8  # so that the processes of a test run share the work


def arrays(value: Any) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, list | tuple | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from arrays(item)


def shows(case: Case) -> bool:
    """Whether the result of a case shares memory with an argument."""
    given = case.arguments()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = case.function(*given)
    return any(np.shares_memory(one, two) for one in arrays(result) for two in arrays(given))


def said(case: Case) -> bool:
    """Whether the rule says that it may; a form that is more than one call may be anything."""
    call = parse_tree(case.call).body[0].value
    if not isinstance(call, gast.Call):
        return True
    function = eval(gast.unparse(call.func), namespace(case.rule))
    rule = rule_of(function)
    return rule is None or may_show(function, arguments_of(function, call))


@pytest.mark.parametrize("part", range(PARTS))
def test_what_is_said_to_be_new_is_new(part: int) -> None:
    drawn = [case for rule in RULES[part::PARTS] for case in cases(rule)]
    assert [f"{case.rule.name}: {case}" for case in drawn if not said(case) and shows(case)] == []


X = np.array([0.7, -0.4, 1.2])


def no_difference(x):
    a = x * 2.0
    b = np.diff(a, n=0)
    b[0] = 7.0 * b[1]
    return np.sum(a * a)


def no_difference_read_later(x):
    a = x * 2.0
    b = np.diff(a, 0)
    a[0] = 7.0 * a[1]
    return np.sum(b * a)


def first_power(x):
    a = np.outer(x, x)
    b = np.linalg.matrix_power(a, 1)
    b[0, 0] = 7.0 * b[1, 1]
    return np.sum(a * a)


def first_power_read_later(x):
    a = np.outer(x, x)
    b = np.linalg.matrix_power(a, 1)
    a[0, 0] = 7.0 * a[1, 1]
    return np.sum(b * b)


def any_power(x, n=1):
    a = np.outer(x, x)
    b = np.linalg.matrix_power(a, n)
    a[0, 0] = 7.0 * a[1, 1]
    return np.sum(b * b)


def narrow_twice(x):
    a = np.float32(x) * np.float32(2.0)
    b = np.float32(a)
    a[0] = 7.0 * a[1]
    return np.sum(b * b)


def in_a_loop(x):
    a = x * 2.0
    s = 0.0
    for k in range(2):
        b = np.diff(a, n=0)
        a[k] = a[k] * a[k + 1]
        s += np.sum(b * b)
    return s


def in_a_helper(x):
    a = x * 2.0
    b = unchanged(a)
    a[0] = 7.0 * a[1]
    return np.sum(b * b)


def unchanged(a):
    return np.diff(a, n=0)


SHARED = (
    no_difference, no_difference_read_later, first_power, first_power_read_later, any_power, narrow_twice, in_a_loop,
    in_a_helper,
)  # fmt: skip


@pytest.mark.parametrize("function", SHARED)
def test_what_is_the_argument_itself_is_no_new_array(function: Any) -> None:
    """`np.diff(a, n=0)` is a, and so is the first power of a matrix: their derivatives had been those of copies."""
    for derivative in (srcgrad.grad(function), lambda x: srcgrad.jvp(function, (x,), (np.ones(3),))):
        with pytest.raises(srcgrad.DifferentiationError, match="E5010"):
            derivative(X)


def differences_of_a_new_array(x):
    a = np.outer(x, x)
    b, c, d = np.diff(a), np.linalg.matrix_power(a, 2), a.astype(float)
    a[0, 0] = 7.0 * a[1, 1]
    d *= 2.0
    return np.sum(b * a[:, 1:]) + np.sum(c * d)


def test_what_is_new_may_be_written_beside() -> None:
    assert srcgrad.check_grads(differences_of_a_new_array, (X,), order=2) is None


def gives(rule: Rule, case: Case) -> bool:
    """Whether the value of a case is what its rule says of all of them."""
    call = parse_tree(case.call).body[0].value
    if not isinstance(call, gast.Call) or rule_of(eval(gast.unparse(call.func), namespace(rule))) is not rule:
        return True  # a part of a value, or a form that another operation has
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = case.function(*case.arguments())
    several = isinstance(value, list | tuple) and all(isinstance(one, np.ndarray | np.generic) for one in value)
    return several if rule.gives == "arrays" else isinstance(value, np.ndarray)


@pytest.mark.parametrize(
    "rule", [pytest.param(rule, id=rule.name) for rule in RULES if rule.gives in ("array", "arrays")]
)
def test_what_is_said_to_be_an_array_is_one(rule: Rule) -> None:
    assert [str(case) for case in cases(rule) if not gives(rule, case)] == []
