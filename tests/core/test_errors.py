"""Ways out: what an error says to do, done, gives the derivative."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import srcgrad
from srcgrad.core.errors import OWN_RULE, DifferentiationError
from srcgrad.rules import d


class Spring:
    """A class that is no dataclass, with a method that changes it."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.level = 0.0

    def update(self, x: float) -> None:
        """Move towards x."""
        self.level = self.level + self.rate * (x - self.level)


SHARED = Spring(0.5)


def of_update(x):
    spring = SHARED
    spring.update(x)
    return spring.level


def of_attribute(x):
    spring = SHARED
    spring.level = 2.0 * x
    return spring.level


def of_update_of_its_own(x):
    spring = Spring(0.5)
    spring.update(x)
    return spring.level


def of_attribute_of_its_own(x):
    spring = Spring(0.5)
    spring.level = 2.0 * x
    return spring.level


def of_state(x):
    state = {"level": 0.0}
    state["level"] = 2.0 * x
    return state["level"]


def of_local_copy(x):
    p = {"a": x}
    return dict(p)["a"] * 2.0


def of_comprehension(x):
    p = {"a": x}
    held = {k: v for k, v in p.items()}  # noqa: C416 - as the error says
    return held["a"] * 2.0


def own(x):
    return 2.0 * np.exp2(x)


@srcgrad.adjoint(own)
def _(y, x):
    d[x] = d[y] * np.log(2.0) * y


X = np.array([2.0, 3.0])


@pytest.mark.parametrize(
    ("refused", "x", "told", "accepted"),
    [
        (lambda p: np.prod(np.array(tuple(p))), X, "use `list(p)`", lambda p: np.prod(np.array(list(p)))),
        (of_local_copy, 1.5, "`{k: v for k, v in p.items()}`", of_comprehension),
        (of_attribute, 1.5, "keep it in a dict: `state['level'] = ...`", of_state),
        (lambda x: np.cumsumm(x)[1], X, "did you mean cumsum", lambda x: np.cumsum(x)[1]),
        (lambda x: np.sum(np.spacing(x)), X, OWN_RULE, lambda x: np.sum(own(x))),
    ],
)
def test_what_is_said_to_do_gives_a_derivative(
    refused: Callable[..., float], x: object, told: str, accepted: Callable[..., float]
) -> None:
    with pytest.raises(DifferentiationError) as caught:
        srcgrad.grad(refused)(x)
    assert told in caught.value.remedy
    srcgrad.check_grads(accepted, (x,), order=1, modes=("reverse",))


def test_a_method_that_changes_an_object_of_the_module_is_named() -> None:
    with pytest.raises(DifferentiationError) as caught:
        srcgrad.grad(of_update)(1.5)
    assert caught.value.message.startswith("`.update()` may change the object `spring`")
    assert SHARED.level == 0.0


def test_an_object_that_the_function_makes_may_change() -> None:
    assert srcgrad.value_and_grad(of_update_of_its_own)(1.5) == (0.75, 0.5)
    assert srcgrad.value_and_grad(of_attribute_of_its_own)(1.5) == (3.0, 2.0)


@pytest.mark.parametrize(
    ("wrt", "said"),
    [("rates", "did you mean rate? the parameters are: x, rate"), (7, "the parameters are: x, rate")],
)
def test_a_parameter_that_is_not_there_is_answered_by_those_that_are(wrt: str | int, said: str) -> None:
    with pytest.raises(DifferentiationError, match="E5009") as caught:
        srcgrad.grad(lambda x, rate: x * rate, wrt=wrt)(1.0, 2.0)
    assert caught.value.remedy == said
    with pytest.raises(DifferentiationError, match="the function has no parameters"):
        srcgrad.grad(lambda: 1.0)()


def test_an_object_with_arrays_is_told_how_to_be_passed() -> None:
    with pytest.raises(DifferentiationError, match="make `Spring` a dataclass"):
        srcgrad.grad(lambda spring, x: spring.rate * x)(Spring(0.5), 2.0)
