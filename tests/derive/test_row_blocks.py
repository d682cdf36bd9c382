"""A sum over rows by blocks: the same value and derivatives, nothing recorded; what is no such sum is refused."""

from __future__ import annotations

import copy
import inspect
import linecache
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.api.arguments import kind_of
from srcgrad.interface.cli import main
from srcgrad.interface.dump import dump
from tests.programs.row_programs import REFUSED, RIGHT, N, arguments, least_squares, pairs, sums_by_column

SEVERAL = {
    "centred": 3,
    "share_of_rows": 3,
    "standardised": 5,
    "numbers_of_rows": 4,
}  # loops over rows: forward, and back
SEVERAL |= dict.fromkeys(("normalised_in_helper", "shares_of_all_rows"), 5)
AFTER = (
    "masked_rows",
    "rows_in_turn",
    "after_the_sum",
    "products_of_rows",
    "sums_by_column",
    "kinds_of_rows",
)  # they need the sum first


def over(function: Callable[..., Any]) -> tuple[str, str]:
    """The two parameters that have rows."""
    _, x, y = inspect.signature(function).parameters
    return x, y


def same(found: Any, expected: Any, dtype: Any = np.float64) -> None:
    """Equal but for the order of sums, in shape and dtype as well."""
    tolerance = 1e-12 if dtype == np.float64 else 2e-5
    for one, other in zip(np.atleast_1d(*[found]), np.atleast_1d(*[expected]), strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)
    assert np.shape(found) == np.shape(expected)
    assert getattr(found, "dtype", float) == getattr(expected, "dtype", float)


@pytest.mark.parametrize("rows", [1, 3, N, N + 5, None])
@pytest.mark.parametrize("function", RIGHT, ids=lambda f: f.__name__)
def test_value_and_gradient(function: Callable[..., Any], rows: int | None) -> None:
    blocked, given = srcgrad.blocked(function, over(function), rows), arguments()
    before = [a.copy() for a in given]
    same(blocked(*given), function(*given))
    wrt = tuple(inspect.signature(function).parameters)
    value, gradient = srcgrad.value_and_grad(blocked, wrt)(*given)
    same(value, function(*given))
    derivative = srcgrad.grad(blocked, wrt)
    for one, again, other in zip(gradient, derivative(*given), srcgrad.grad(function, wrt)(*given), strict=True):
        same(one, other)
        same(again, other)
    assert "_stack" not in derivative.source or function.__name__ in (
        "layers",
        "rows_in_turn",
        "numbers_of_rows",
    )  # whose inner loops record
    loops = SEVERAL.get(function.__name__, 2 if function.__name__ in AFTER else 1)
    assert derivative.source.count("for first") == loops
    np.testing.assert_equal(list(given), before)


@pytest.mark.parametrize("function", RIGHT, ids=lambda f: f.__name__)
def test_float32_stays(function: Callable[..., Any]) -> None:
    blocked, given = srcgrad.blocked(function, over(function), 3), arguments(np.float32)
    if function.__name__ != "layers":  # which has an array of float64
        same(blocked(*given), function(*given), np.float32)
    same(srcgrad.grad(blocked)(*given), srcgrad.grad(function)(*given), np.float32)


@pytest.mark.parametrize("function", RIGHT[:6], ids=lambda f: f.__name__)
def test_other_modes(function: Callable[..., Any]) -> None:
    blocked, given = srcgrad.blocked(function, over(function), 3), arguments()
    w = given[0]
    y, pullback = srcgrad.vjp(blocked, *given, wrt=0)
    expected = srcgrad.grad(function)(*given)
    same(y, function(*given))
    same(pullback(1.0), expected)
    same(pullback(1.0), expected)
    tangents = tuple(np.cos(a) for a in given)
    same(srcgrad.jvp(blocked, given, tangents)[1], srcgrad.jvp(function, given, tangents)[1])
    same(srcgrad.hvp(blocked)(*given, np.cos(w)), srcgrad.hvp(function)(*given, np.cos(w)))


def test_several_sums_by_pullback() -> None:
    blocked, given = srcgrad.blocked(pairs, ("x", "y"), 3), arguments()
    for seed in ((1.0, 0.0), (0.5, -2.0)):
        found = srcgrad.vjp(blocked, *given)[1](seed)
        for one, other in zip(found, srcgrad.vjp(pairs, *given)[1](seed), strict=True):
            same(one, other)


@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__name__)
def test_what_is_no_sum_over_rows_is_refused(function: Callable[..., Any]) -> None:
    blocked = srcgrad.blocked(function, "x", 3)
    for use in (blocked, srcgrad.grad(blocked)):
        with pytest.raises(DifferentiationError) as caught:
            use(*arguments())
        assert caught.value.code == "E5029"


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@pytest.mark.parametrize("function", [least_squares, sums_by_column], ids=lambda f: f.__name__)
def test_no_rows_at_all(function: Callable[..., Any]) -> None:
    given = arguments(rows=0)
    same(srcgrad.blocked(function, ("x", "y"), 3)(*given), function(*given))
    blocked = srcgrad.grad(srcgrad.blocked(function, ("x", "y"), 3))
    np.testing.assert_array_equal(blocked(*given), srcgrad.grad(function)(*given))


def test_unequal_numbers_of_rows_are_refused_when_they_are_seen() -> None:
    w, x, y = arguments()
    with pytest.raises(ValueError, match="7, 6 rows"):
        srcgrad.grad(srcgrad.blocked(least_squares, ("x", "y"), 3))(w, x, y[:-1])


def test_what_is_asked_for() -> None:
    with pytest.raises(DifferentiationError, match="E5009"):
        srcgrad.blocked(least_squares, "z")
    for rows in (0, 2.5, True):
        with pytest.raises(DifferentiationError, match="E5029"):
            srcgrad.blocked(least_squares, "x", rows)  # type: ignore[arg-type]
    with pytest.raises(DifferentiationError, match="rank of `x`"):
        srcgrad.source(srcgrad.blocked(least_squares, "x"))


def test_it_pickles_and_copies() -> None:
    blocked, given = srcgrad.blocked(least_squares, ("x", "y"), 3), arguments()
    gradient = srcgrad.grad(blocked)
    for again in (pickle.loads(pickle.dumps(gradient)), copy.deepcopy(gradient)):
        np.testing.assert_array_equal(again(*given), gradient(*given))


def test_what_the_function_uses_may_change() -> None:
    space: dict[str, Any] = {"np": np, "scale": 2.0}
    text = "def f(x):\n    return np.sum(x * x) * scale\n"
    linecache.cache["<rows>"] = (len(text), None, text.splitlines(True), "<rows>")
    exec(compile(text, "<rows>", "exec"), space)
    gradient, x = srcgrad.grad(srcgrad.blocked(space["f"], "x", 2)), np.arange(5.0)
    np.testing.assert_array_equal(gradient(x), 4.0 * x)
    space["scale"] = 3.0
    np.testing.assert_array_equal(gradient(x), 6.0 * x)


MODEL = """import numpy as np


def loss(w, x, y):
    n, d = x.shape
    z = np.exp(-np.abs(x)) * 0.5
    return np.sum(z) + np.sum(x * x) / n


def scores(x):
    n, d = x.shape
    return np.sum(np.tanh(x), axis=1)
"""


def test_dumped_text_stands_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "model.py"
    file.write_text(MODEL)
    made = dump(f"{file}:loss", wrt=("x",), over=("x",), rows=3, standalone=True)
    assert "import srcgrad" not in made.text and "for first in range(0, stop, 3):" in made.text
    assert made.text == dump(f"{file}:loss", wrt=("x",), over=("x",), rows=3, standalone=True).text
    space: dict[str, Any] = {}
    exec(made.text, space)
    x = arguments()[1]
    expected = -np.sign(x) * np.exp(-np.abs(x)) * 0.5 + 2.0 * x / N
    np.testing.assert_allclose(space["loss_blocked_grad"](None, x, None), expected, rtol=1e-12)
    assert main(["dump", f"{file}:scores", "--over", "x", "--rows", "3"]) == 1
    assert "E5029" in capsys.readouterr().err


def entropy(x):
    return np.sum(np.where(x > 0.0, x * x, 0.0))


def test_what_calls_of_blocked_functions_are_checked_for() -> None:
    """The derivative of a blocked function asks the text of the loop which arguments it writes into."""
    by_blocks = srcgrad.blocked(entropy, over="x", rows=2)
    x = np.array([-1.0, 0.0, 0.3, 1.0, 4.0])
    inner = by_blocks.as_function({"x": kind_of(x)})
    assert vars(inner)["__srcgrad_text__"].written == {} and inner(x) == by_blocks(x) == entropy(x)
    np.testing.assert_array_equal(srcgrad.grad(by_blocks)(x), srcgrad.grad(entropy)(x))
    np.testing.assert_array_equal(srcgrad.hvp(by_blocks)(x, np.ones(5)), [0.0, 0.0, 2.0, 2.0, 2.0])


def test_a_function_that_writes_into_its_argument_is_no_sum_over_rows() -> None:
    def changed(x, w):
        x *= 2.0
        return np.sum(x @ w)

    with pytest.raises(DifferentiationError, match="E5029"):
        srcgrad.blocked(changed, over="x", rows=2)(np.ones((4, 3)), np.ones(3))
