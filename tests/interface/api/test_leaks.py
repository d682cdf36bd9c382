"""Calls keep nothing: memory after many calls is what it was after a few."""

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad

X = np.arange(1.0, 4.0)


def waves(x, y):
    """A loop, whose values are recorded."""
    s = 0.0
    for k in range(3):
        s = s + x[k] * np.sin(y)
    return s


def scaled(x):
    """More outputs than inputs, in lengths that change."""
    return np.concatenate((x, x)) * np.sum(x)


GRADIENT = srcgrad.value_and_grad(waves, (0, 1))
ROWS, COLUMNS = srcgrad.jacobian(waves), srcgrad.jacobian(scaled)


@pytest.mark.parametrize(
    "call",
    [
        lambda k: GRADIENT(X, float(k)),
        lambda k: ROWS(X, 2.0),
        lambda k: COLUMNS(np.ones(1 + k % 40)),
    ],
    ids=["gradient", "rows", "columns of many shapes"],
)
def test_many_calls_keep_nothing(call: Callable[[int], Any]) -> None:
    for k in range(320):
        call(k)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for k in range(320):
            call(k)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 320 * 16  # what a call kept would be an object, of more bytes than that


def test_sizes_that_are_known_have_an_end() -> None:
    made = srcgrad.jacobian(scaled)
    made._sizes.update(dict.fromkeys(range(300), 0))
    made(X)
    assert len(made._sizes) == 1
