"""A sum that keeps its axis only to lose it: along any axis, of any rank, in float32, where others are taken off."""

from __future__ import annotations

from typing import Any  # functions of arrays

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.check.check import check_grads


def rows(k, s):
    return np.sum(np.sin(k) * s[:, None])


def columns(k, s):
    return np.sum(np.sin(k) * s[None, :])


def middle(k, s):
    return np.sum(k * k * s[:, None, :])


def one_element(k, s):
    return np.sum(np.cos(k * s[:, None])[0, 1:])


CASES = [(rows, (2, 3), (2,)), (columns, (2, 3), (3,)), (middle, (2, 4, 3), (2, 3)), (one_element, (2, 3), (2,))]


@pytest.mark.parametrize(("function", "one", "two"), CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_sums_along_an_axis(function: Any, one: tuple[int, ...], two: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    k, s = rng.standard_normal(one), rng.standard_normal(two)
    check_grads(function, (k, s), wrt=(0, 1), order=2)
    text = srcgrad.source(function, wrt=(0, 1), like=(k, s))
    assert ".sum(axis=" in text
    assert "keepdims" not in text
    half = [a.astype(np.float32) for a in (k, s)]
    for given, found in zip(half, srcgrad.grad(function, (0, 1))(*half), strict=True):
        assert found.dtype == np.float32
        assert found.shape == given.shape
    none = np.zeros((0, *one[1:])), np.zeros((0, *two[1:]))
    if function in (rows, middle):
        assert [a.shape for a in srcgrad.grad(function, (0, 1))(*none)] == [a.shape for a in none]


def attraction(mass, d):
    """A number for each column and plane of an array of three axes."""
    return np.sum(mass * mass) + np.sum(np.sin(d) * (mass[None, :, None] * d))


def test_several_axes_are_not_kept_to_be_taken_off() -> None:
    mass, d = np.random.default_rng(2).random(3), np.random.default_rng(3).random((2, 3, 4))
    text = srcgrad.source(attraction, wrt=("mass", "d"), like=(mass, d))
    assert ".sum(axis=(0, 2))" in text and "keepdims" not in text, text
    check_grads(attraction, (mass, d), wrt=(0, 1), order=2, modes=("reverse", "forward"))
