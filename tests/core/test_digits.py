"""Integers of more digits than Python writes: refused where the text would have to hold them, right elsewhere."""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import DifferentiationError

LARGE = "0x" + "f" * 200_000
TEXT = f"""import numpy as np
N = {LARGE}
def helper(t):
    return t * ({LARGE} % 5)
def in_a_helper(x):
    return np.sum(helper(x))
def in_a_lambda(x):
    h = lambda t: t * ({LARGE} % 5)
    return np.sum(h(x))
def in_a_condition(x):
    return np.sum(x) if {LARGE} > 3 else np.sum(x * x)
def of_a_default(x, p={LARGE}):
    return np.sum(x * x) * (p % 11)
def of_the_module(x):
    return np.sum(x * x) * (N % 7)
"""


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "digits_large.py").write_text(TEXT)
    monkeypatch.syspath_prepend(str(tmp_path))
    return importlib.import_module("digits_large")


def test_integers_without_text(large: Any) -> None:
    x = np.array([0.5, 2.0])
    for name in ("in_a_helper", "in_a_lambda", "in_a_condition", "of_a_default"):
        with pytest.raises(DifferentiationError, match="E5005"):
            srcgrad.grad(getattr(large, name))(x)
        with pytest.raises(DifferentiationError, match="E5005"):
            srcgrad.jvp(getattr(large, name), (x,), (x,))
    factor = large.N % 7
    np.testing.assert_array_equal(srcgrad.grad(large.of_the_module)(x), 2.0 * x * factor)
