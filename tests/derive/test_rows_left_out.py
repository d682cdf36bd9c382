"""Rows of an array that a loop goes over and leaves out: `continue`, `break`, the `if` of a comprehension."""

from __future__ import annotations

from typing import Any  # functions of arrays

import numpy as np
import pytest

import srcgrad

X = np.array([0.0, 1.0, 2.0])


def passed_by(x):
    s = 0.0
    for v in np.sqrt(x):
        if v == 0.0:
            continue
        s += 1.0 / v
    return s


def passed_by_after_a_product(x):
    s = 0.0
    for v in np.sqrt(x):
        w = 2.0 * v
        if w > 0:
            s += 1.0 / w
    return s


def left(x):
    s = 0.0
    for v in np.sqrt(x)[::-1]:
        if v == 0.0:
            break
        s += 1.0 / v
    return s


def nested(x):
    s = 0.0
    for row in np.sqrt(np.outer(x, x)):
        for v in row:
            if v > 0:
                s += 1.0 / v
    return s


def counted(x):
    s = 0.0
    for i, v in enumerate(np.sqrt(x)):
        if v == 0.0:
            continue
        s += i / v
    return s


def beside(x):
    s = 0.0
    for v, w in zip(np.sqrt(x), x, strict=True):
        if v == 0.0:
            continue
        s += w / v
    return s


def masked_rows(x):
    s = 0.0
    for row in np.sqrt(np.outer(x, x)):
        s += np.sum(np.where(row > 0, 1.0 / np.where(row > 0, row, 1.0), 0.0))
    return s


def comprehension(x):
    return sum([1.0 / v for v in np.sqrt(x) if v > 0])


def generator(x):
    return sum(1.0 / v for v in np.sqrt(x) if v > 0)


def array_of_some(x):
    return np.sum(np.array([1.0 / v for v in np.sqrt(x) if v > 0]))


def element_with_a_name(x):
    r = np.sqrt(x)
    s = 0.0
    for i in range(3):
        v = r[i]
        if v == 0.0:
            continue
        s += 1.0 / v
    return s


def element_in_a_while_loop(x):
    r, s, i = np.sqrt(x), 0.0, 0
    while i < 3:
        v = r[i]
        i += 1
        if v == 0:
            continue
        s += np.log(v)
    return s


def chosen(x):
    s = 0.0
    for v in np.sqrt(x):
        s += 1.0 / v if v > 0 else 0.0
    return s


FUNCTIONS = [
    passed_by, passed_by_after_a_product, left, nested, counted, beside, masked_rows, comprehension, generator,
    array_of_some, element_with_a_name, element_in_a_while_loop, chosen,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_what_a_trip_leaves_out_contributes_nothing(function: Any) -> None:
    direction = np.array([0.0, 1.0, -0.4])
    gradient = srcgrad.grad(function)
    with np.errstate(all="raise"):
        found = gradient(X)
    steps = [1e-6 * one for one in np.eye(3)]
    due = [(function(X + step) - function(X - step)) / 2e-6 for step in steps[1:]]
    assert found[0] == 0.0
    np.testing.assert_allclose(found[1:], due, rtol=1e-8)
    near = [gradient(X + h * direction) for h in (1e-6, -1e-6)]
    with np.errstate(all="ignore"):
        second = srcgrad.hvp(function)(X, direction)
    np.testing.assert_allclose(second, (near[0] - near[1]) / 2e-6, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("function", [passed_by, left, nested, masked_rows], ids=lambda one: one.__name__)
def test_compiled_loops(function: Any) -> None:
    pytest.importorskip("numba")
    np.testing.assert_allclose(srcgrad.grad(function, target="numba")(X), srcgrad.grad(function)(X), rtol=1e-12)


def read_by_each_trip(x):
    s = 0.0
    for v in np.sqrt(x):
        s += v * v + np.sin(v)
    return s


def test_rows_that_each_trip_reads_have_no_mask() -> None:
    assert "bool_" not in srcgrad.source(read_by_each_trip)
    with np.errstate(all="ignore"):
        assert np.isinf(srcgrad.grad(read_by_each_trip)(X)[0])


def part_of_a_stack(x):
    z = np.stack([np.sqrt(x), x])
    return np.sum(z[1]) + z[0, 1] + np.sum(z[:, 1:].T)


def inner_part_of_a_table(x):
    z = np.sqrt(np.outer(x, x))
    return np.sum(z[1:, 2]) + np.sum(z[1, 1:])


@pytest.mark.parametrize("function", [part_of_a_stack, inner_part_of_a_table])
def test_pieces_of_one_axis_do_not_cover_another(function: Any) -> None:
    with np.errstate(all="raise"):
        found = srcgrad.grad(function)(X)
    steps = 1e-6 * np.eye(3)[1:]
    due = [(function(X + step) - function(X - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(found[1:], due, rtol=1e-8)
    assert np.isfinite(found[0])
