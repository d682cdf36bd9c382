"""Rows added back where an array of integers took them: what `np.add.at` gives, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
import srcgrad.opencl as xp
from srcgrad.opencl import scattered
from tests.agree import differences
from tests.opencl.conftest import fewer
from tests.random.targets import form

RANDOM = np.random.default_rng(11)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """The shapes to which kernels added."""
    shapes: list[tuple[int, ...]] = []
    launch = scattered._launch

    def counted(x_bar: Any, *rest: Any) -> None:
        shapes.append(x_bar.shape)
        launch(x_bar, *rest)

    monkeypatch.setattr(scattered, "_launch", counted)
    return shapes


def places(rows: int, *shape: int) -> Any:
    return RANDOM.integers(-rows, rows, shape)


MANY = fewer(20_000, 900)
CASES: dict[str, tuple[tuple[int, ...], Any, Any]] = {
    "rows": ((70, 40), places(70, 600), (600, 40)),
    "more work than for one core": ((300, 64), places(300, MANY), (MANY, 64)),
    "blocks": ((9, 5, 8), places(9, 700), (700, 5, 8)),
    "index of two axes": ((50, 16), places(50, 40, 30), (40, 30, 16)),
    "one value for all": ((50, 40), places(50, 600), ()),
    "one row for all": ((50, 40), places(50, 600), (40,)),
    "one row": ((1, 40), places(1, 600), (600, 40)),
    "unsigned": ((50, 40), (places(50, 600) % 50).astype(np.uint8), (600, 40)),
    "every other place": ((50, 40), places(50, 1200)[::2], (600, 40)),
}


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("name", CASES)
def test_adds_as_numpy_does(name: str, real: Any, runs: list[tuple[int, ...]]) -> None:
    shape, index, given = CASES[name]
    start, values = RANDOM.standard_normal(shape).astype(real), RANDOM.standard_normal(given).astype(real)
    wanted = start.copy()
    np.add.at(wanted, index, values)
    found = scattered.add_at(start, index, values)
    assert found is start and runs == [shape]
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    "x_bar, index",
    [
        (np.zeros((400, 40)).T, places(40, 600)),
        (np.zeros(400), places(400, 20_000)),
        (np.zeros((400, 40), complex), places(400, 600)),
        (np.zeros((400, 40)), places(400, 3)),
        (np.zeros((400, 40)), RANDOM.standard_normal(400) > 0),
        (np.zeros((400, 40)), (places(400, 20_000), places(40, 20_000))),
    ],
    ids=["turned", "elements", "complex", "few", "mask", "pairs"],
)
def test_all_else_is_numpys(x_bar: Any, index: Any, runs: list[tuple[int, ...]]) -> None:
    wanted = x_bar.copy()
    np.add.at(wanted, index, 1.5)
    np.testing.assert_array_equal(scattered.add_at(x_bar, index, 1.5), wanted)
    assert runs == []


def test_a_place_that_is_not_there_is_an_error() -> None:
    with pytest.raises(IndexError, match="out of bounds"):
        scattered.add_at(np.zeros((40, 40)), np.full(600, 40), np.ones((600, 40)))
    with pytest.raises(IndexError, match="out of bounds"):
        scattered.add_at(np.zeros((40, 40)), np.full(600, -41), np.ones((600, 40)))


def embedded(table: Any, index: Any, w: Any) -> Any:
    rows = table[index]
    return np.sum(np.tanh(rows) * w)


ARGS = (RANDOM.standard_normal((60, 32)), places(60, 900), RANDOM.standard_normal((900, 32)))


def test_a_gradient_of_rows_is_one_kernel_and_one_addition(runs: list[tuple[int, ...]], launched: list[str]) -> None:
    fast = srcgrad.value_and_grad(embedded, wrt=(0, 2), target="opencl")
    found = fast(*ARGS)
    assert fast.source.count("launch(embedded") == 1 and len(launched) == 1 and runs == [(60, 32)]
    assert differences(found, srcgrad.value_and_grad(embedded, wrt=(0, 2))(*ARGS), 1e-12) == []


def test_device_arrays_and_the_form_for_gpus(runs: list[tuple[int, ...]]) -> None:
    wanted = srcgrad.grad(embedded)(*ARGS)
    with form(True):
        table, w = xp.asarray(ARGS[0]), xp.asarray(ARGS[2])
        found = srcgrad.grad(embedded, target="opencl")(table, ARGS[1], w)
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-12, atol=1e-12)
        plain = srcgrad.grad(embedded, target="opencl")(*ARGS)
    np.testing.assert_allclose(plain, wanted, rtol=1e-12, atol=1e-12)
    assert runs == []
