"""Each row of the table of conventions that the rules page prints, on floats and on arrays of three dtypes."""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import hvp, vjp
from srcgrad.interface.check.finite_differences import tangent_like, vector
from tests.templates.conventions_table import ROWS, SECOND, Row
from tests.templates.rules_page import page

pytestmark = pytest.mark.filterwarnings("ignore")  # nan and empty arrays warn, as in the primal
WORDS: dict[str, Any] = {"np": np, "inf": np.inf, "nan": np.nan, "array": np.array}


def of(text: str) -> tuple[Any, ...]:
    """The values of a cell of the table."""
    return tuple(eval(f"[{text}]", dict(WORDS)))


def function(call: str) -> Callable[..., Any]:
    """The call of a row as a function of the letters that it reads, x first."""
    letters = [letter for letter in "xyz" if re.search(rf"\b{letter}\b", call)]
    text = f"def f({', '.join(letters)}):\n    return {call}\n"
    file = f"<convention {call}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = dict(WORDS)
    exec(compile(text, file, "exec"), names)
    made: Callable[..., Any] = names["f"]
    return made


def gradients(row: Row, args: tuple[Any, ...]) -> tuple[Any, ...]:
    y, pullback = vjp(function(row[0]), *args)
    return tuple(pullback(tangent_like(y, np.ones(vector(y).size))))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} at {row[1]}")
def test_row(row: Row) -> None:
    args, expected = of(row[1]), of(row[2])
    for actual, wanted in zip(gradients(row, args), expected, strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=1e-14)  # the rounding of LAPACK's singular values


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} at {row[1]}")
def test_second_order(row: Row) -> None:
    """The column of order 2: the Hessian of the sum of the result times ones, 0 where the table is silent."""
    args = of(row[1])
    ones = tuple(np.ones_like(a) if isinstance(a, np.ndarray) else 1.0 for a in args)
    places = tuple(range(len(args)))
    product = hvp(function(f"np.sum({row[0]})"), wrt=places)
    found = product(*args, ones)
    for actual, wanted in zip(found, of(SECOND.get(row[:2], ", ".join(["0.0"] * len(args)))), strict=True):
        np.testing.assert_allclose(actual, wanted + np.zeros_like(actual), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble])
def test_every_row_keeps_its_dtype(dtype: type) -> None:
    wrong = []
    for row in ROWS:
        if "linalg" in row[0] and dtype is not np.float32:
            continue  # LAPACK knows neither
        args = tuple(np.asarray(a, dtype) if isinstance(a, np.ndarray) else dtype(a) for a in of(row[1]))
        found = gradients(row, args)
        if [np.asarray(g).dtype for g in found] != [np.dtype(dtype)] * len(found):
            wrong.append((row[0], row[1], [np.asarray(g).dtype for g in found]))
    assert wrong == []


def test_every_row_is_on_the_page() -> None:
    text = page()
    assert [row for row in ROWS if f"`{row[0]}`" not in text] == []
