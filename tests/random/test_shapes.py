"""Broadcasting, reshapes, parts, axes of length 0 and 1: gradients with and without known shapes, and slopes."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.check.check import check_grads
from tests.random.shapes import outcome


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.parametrize("first", range(0, 100, 25))
def test_drawn_programs(first: int) -> None:
    with np.errstate(all="ignore"):
        found = {seed: outcome(seed) for seed in range(first, first + 25)}
    assert not {seed: one for seed, one in found.items() if not one.startswith(("right", "skipped", "refused E5005"))}
    assert sum(one == "right" for one in found.values()) > 15


def minus_one_is_no_length(x, y):
    return np.sum(np.tanh(np.sum(y, axis=0, keepdims=True) + np.reshape(x, (1, -1))) ** 2)


def column(x, y):
    return np.sum(np.sin(np.reshape(x, (-1, 1)) * y) + np.reshape(y, -1)[:2] * x)


def part_of_a_joined_length(x, y):
    return np.sum((np.reshape(np.tanh(np.tanh(x) * np.maximum(y, x)[:, 1:2])[:1], -1)) ** 2)


def narrow_seed_of_a_scaled_array(x, y):
    return np.sum(np.mean(np.dot(y, x[0]), axis=-2) ** 2) + np.sum(np.mean(np.dot(x[1], y), axis=-1) ** 2)


def axes_of_a_number(x, y):
    s = np.sum(x * x)
    t = np.tanh(s[None] * x) + s[None, None] * y
    return np.sum(t[None, ...]) + s * s[None][0]


def whole_into_itself(x, y):
    t = x * 1.0
    for _ in range(2):
        t[...] = t
        t[:] = t * t
    row = y[:1] * 2.0
    row[:1] = row
    row[np.array([0])] = row
    return np.sum(t * x) + np.sum(row * row)


def lengths_unpacked(x, y):
    t = np.zeros((*y.shape, 3)) + y[..., None]
    return np.sum(np.reshape(t, (*np.shape(y)[:1], -1)) ** 2) + np.sum(np.broadcast_to(x, (4, *x.shape)) ** 3)


def along_an_axis_that_a_number_lacks(x, y):
    s = np.sum(x * y)
    return np.sum(np.cumsum(s, axis=0) ** 2) + np.sum(np.repeat(s, 3, axis=0) ** 2)


X, Y = np.array([0.3, -0.4]), np.array([[0.7, 0.2], [-0.1, 0.5]])


@pytest.mark.parametrize(
    "function",
    [
        minus_one_is_no_length, column, part_of_a_joined_length, narrow_seed_of_a_scaled_array, axes_of_a_number,
        whole_into_itself, lengths_unpacked, along_an_axis_that_a_number_lacks,
    ],
)  # fmt: skip
def test_both_texts(function) -> None:
    check_grads(function, (X, Y), order=2)
    general = srcgrad.grad(function, (0, 1))(X, Y)
    special = srcgrad.grad(function, (0, 1), like=(X, Y))(X, Y)
    for one, two in zip(general, special, strict=True):
        assert np.shape(one) == np.shape(two)
        np.testing.assert_allclose(one, two, rtol=1e-12)


def sum_along_the_axis_of_one_extreme(x, y):
    return np.sum(np.cumsum(np.tanh(np.repeat(y[:1, 0], 2) * x).max(axis=-1), axis=0) ** 2)


def test_the_adjoint_of_an_extreme_has_its_shape() -> None:
    check_grads(sum_along_the_axis_of_one_extreme, (X, Y), order=1)
