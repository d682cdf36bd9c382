"""Kernels of one text are built in one program, in the variants that they are then launched with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.opencl.device import Device
from srcgrad.opencl.launch import launch
from tests.agree import differences


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of programs that are built."""
    texts: list[str] = []
    build = Device._built

    def counted(self: Device, text: str, small: bool) -> Any:
        texts.append(text)
        return build(self, text, small)

    monkeypatch.setattr(Device, "_built", counted)
    return texts


def layers(x: Any, w: Any, b: Any, c: Any) -> Any:
    """Products between kernels."""
    h = np.tanh(x @ w * c + b)
    g = np.exp(-h * h) * h @ w
    return np.sum(np.sqrt(1.0 + g * g) * np.tanh(g - h))


def arguments(row: bool, size: int = 6) -> tuple[Any, ...]:
    numbers = np.random.default_rng(size)
    b = numbers.standard_normal(size if row else (size, size))
    return numbers.standard_normal((size, size)), numbers.standard_normal((size, size)), b, 0.7


@pytest.mark.parametrize("row", [False, True], ids=["flat", "row"])
def test_one_program_does_for_most(row: bool, built: list[str], launched: list[str]) -> None:
    derived = srcgrad.value_and_grad(layers, wrt=(0, 1, 2, 3), target="opencl")
    found = derived(*arguments(row))
    assert differences(found, srcgrad.value_and_grad(layers, wrt=(0, 1, 2, 3))(*arguments(row)), 1e-12) == []
    assert len(set(launched)) >= 3 and len(built) < len(set(launched))
    assert built[0].count("__kernel void") >= 3
    count = len(built)
    derived(*arguments(row))
    assert len(built) == count


def test_each_float_type_has_programs_of_its_own(built: list[str]) -> None:
    derived = srcgrad.grad(layers, wrt=(0, 1, 2, 3), target="opencl")
    args = arguments(False)
    plain = srcgrad.grad(layers, wrt=(0, 1, 2, 3))
    for real in (np.float64, np.float32):
        given = tuple(a.astype(real) if isinstance(a, np.ndarray) else a for a in args)
        assert differences(derived(*given), plain(*given), 1e-4 if real is np.float32 else 1e-12) == []
    assert {"#define REAL float" in text for text in built} == {True, False}


@pytest.mark.filterwarnings("ignore")
def test_a_broken_kernel_does_no_harm_to_its_neighbours() -> None:
    space: dict[str, Any] = {}
    for name, formula in (("good", "x * x"), ("bad", "nothing_of(x)")):
        text = f'    """Of each element:\n\n        REAL y = {formula};\n        STORE(y);  // of x\n    """'
        exec(f"def f_kernel_{name}(x):\n{text}\n", space)
    assert launch(space["f_kernel_good"], np.array([3.0, 4.0])).tolist() == [9.0, 16.0]
    with pytest.raises(srcgrad.DifferentiationError, match=r"E5021.*f_kernel_bad"):
        launch(space["f_kernel_bad"], np.ones(2))
