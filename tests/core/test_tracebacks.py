"""Errors show the user's frames, generated lines, and one frame of ours."""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.core import source_text
from srcgrad.interface.api import derivative as derivatives

OURS = str(Path(srcgrad.__file__).parent)


def without_a_rule(x: Any) -> Any:
    return np.sum(np.sort_complex(x))


def product(x: Any, a: Any) -> Any:
    y = x @ a
    return np.sum(y)


def shifted(x: Any) -> Any:
    return np.sum(x + np.ones(5))


def frames_of_ours(asked: Callable[[], object], kind: type[Exception]) -> int:
    with pytest.raises(kind) as found:
        asked()
    return sum(one.filename.startswith(OURS) for one in traceback.extract_tb(found.value.__traceback__))


X = np.ones(3)
ASKED: dict[str, Callable[[], object]] = {
    "grad": lambda: srcgrad.grad(without_a_rule)(X),
    "value_and_grad": lambda: srcgrad.value_and_grad(without_a_rule)(X),
    "vjp": lambda: srcgrad.vjp(without_a_rule, X),
    "jvp": lambda: srcgrad.jvp(without_a_rule, (X,), (X,)),
    "hvp": lambda: srcgrad.hvp(without_a_rule)(X, X),
    "jacobian": lambda: srcgrad.jacobian(without_a_rule)(X),
    "source": lambda: srcgrad.source(without_a_rule),
    "check_grads": lambda: srcgrad.check_grads(without_a_rule, (X,)),
}


@pytest.mark.parametrize("asked", ASKED)
def test_a_refusal_shows_one_frame_of_ours(asked: str) -> None:
    assert frames_of_ours(ASKED[asked], srcgrad.DifferentiationError) == 1


def test_all_frames_are_kept_where_that_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SRCGRAD_TRACEBACK", "full")
    assert frames_of_ours(ASKED["grad"], srcgrad.DifferentiationError) > 3


def test_an_error_of_numpy_shows_the_users_line_and_one_frame_of_ours() -> None:
    gradient = srcgrad.value_and_grad(shifted)
    with pytest.raises(ValueError, match="broadcast") as found:
        gradient(X)
    shown = traceback.extract_tb(found.value.__traceback__)
    assert sum(one.filename.startswith(OURS) for one in shown) == 1
    assert any(one.line == "return np.sum(x + np.ones(5))" for one in shown)


def test_a_product_that_does_not_fit_is_the_users_error() -> None:
    """The gradient leaves the product out, so that only its own shape told: E5004, which blamed a rule."""
    for gradient in (srcgrad.grad(product), srcgrad.grad(product, wrt="a")):
        with pytest.raises(ValueError, match="matmul") as found:
            gradient(X, np.ones(4))
        assert traceback.extract_tb(found.value.__traceback__)[-1].line == "y = x @ a"


def test_a_fault_of_our_own_keeps_all_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: object) -> None:
        raise RuntimeError("a bug")

    fails.__code__ = fails.__code__.replace(co_filename=source_text.__file__)
    monkeypatch.setattr(derivatives, "execute_derivative", fails)
    assert frames_of_ours(lambda: srcgrad.grad(shifted)(np.ones(5)), RuntimeError) > 2
