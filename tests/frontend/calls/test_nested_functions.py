"""Functions that functions make are followed; nested functions that are kept are refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

import srcgrad
from srcgrad.core.errors import DifferentiationError


def made(function):
    return lambda t: function(t)


def chosen(function):
    table = {"it": function}
    return table["it"](2.0)


def applied(function, t):
    return function(t)


def of_a_named_function(x):
    def scaled(t):
        return t * x

    return made(scaled)(2.0)


def of_a_lambda(x):
    return made(lambda t: t * x)(2.0)


def bound_first(x):
    scaled = made(lambda t: t * x)
    return scaled(2.0)


def kept_in_a_called_function(x):
    return chosen(lambda t: t * x)


def kept_here(x):
    def scaled(t):
        return t * x

    return (scaled, 1)[0](2.0)


@pytest.mark.parametrize("function", [of_a_named_function, of_a_lambda, bound_first])
def test_what_a_function_makes_is_its_definition(function) -> None:
    assert function(3.0) == 6.0
    assert (srcgrad.grad(function)(3.0), srcgrad.hessian(function)(3.0)) == (2.0, 0.0)


@pytest.mark.parametrize("function", [kept_in_a_called_function, kept_here])
def test_refused(function) -> None:
    assert function(3.0) == 6.0
    for derive in (srcgrad.grad, srcgrad.hessian):
        with pytest.raises(DifferentiationError, match=r"E5005.*nested|E5031"):
            derive(function)(3.0)


def test_called_at_once() -> None:
    def twice(x):
        def scaled(t):
            return t * x * x

        return applied(scaled, 2.0) + applied(lambda t: t * x, 1.0)

    assert srcgrad.grad(twice)(3.0) == 13.0


def test_a_function_of_a_module_changes_no_module() -> None:
    def smallest_first(x):
        def ordered(t):
            return np.sort(t)

        return np.sum(ordered(x) * np.cos(x))

    srcgrad.check_grads(smallest_first, (np.array([0.4, -0.3, 0.8]),))


def given_on(s, z):
    return s(1.3) * z


def test_a_function_given_to_one_that_calls_itself_is_refused() -> None:
    def again(x):
        sine = np.sin
        through = lambda t: given_on(sine, t)  # noqa: E731
        return given_on(through, x)

    with pytest.raises(DifferentiationError, match=r"E5005.*calls itself"):
        srcgrad.grad(again)(0.7)


def test_a_name_in_an_expression_is_bound_there_too() -> None:
    """`(scale := e)`, then a function of that name: what was read before is the number."""

    def later(x):
        x = (scale := np.sum(x)) * x
        scale = lambda t: np.sin(t)  # noqa: E731
        return np.sum(scale(x))

    def tested(x):
        while (scale := np.sum(x)) < 3:
            x = scale + x
        scale = lambda t: np.sin(t)  # noqa: E731
        return np.sum(scale(x))

    for function in (later, tested):
        srcgrad.check_grads(function, (np.array([0.3, 0.4]),))


CENTRE = 100.0
SPAN = 50.0


def integrated(function, CENTRE):  # noqa: N803
    SPAN = 2.0 * CENTRE  # noqa: N806

    def integrand(u):
        slope, rest = abs(SPAN) * u, np.exp(CENTRE)
        return function(u) * slope + rest

    return quad(integrand, 0.0, 1.0)[0]


def test_what_a_function_that_is_written_out_twice_captures() -> None:
    """The second one reads its own names, not those of the module: its lines are not those of its text."""

    def twice(x):
        return integrated(np.sin, x[0]) + integrated(np.cos, x[1])

    srcgrad.check_grads(twice, (np.array([0.31, 0.47]),))
