"""Transposes in products: of matrices, of what may be something else, of what a loop binds anew."""

from __future__ import annotations

from typing import Any  # arguments of arbitrary functions

import numpy as np
import pytest

import srcgrad
from srcgrad.check import check_grads


def layer(x, w):
    return np.sin(x @ w.T)


def other_side(x, w):
    return np.cos(w @ x.T) @ x


def both(x, w):
    return (x.T @ w.T) @ (w @ x)


def by_function(x, w):
    return np.tanh(np.matmul(x, np.transpose(w)))


def read_twice(x, w):
    t = w.T
    return np.sum(t * t) * (x @ t) + x @ t


def bound_anew(x, w):
    t = w.T
    w = w * 2.0
    s = x @ t
    t = w.T
    return s * (x @ t)


def in_a_loop(x, w):
    s = 0.0
    for _ in range(3):
        t = w.T
        s = s + np.sum(np.sin(x @ t))
        w = w * 1.1 + s
    return s


def written(x, w):
    w = w.copy()
    t = w.T
    s = np.sum(x @ t)
    w[0] *= 2.0
    return s * np.sum(x @ w.T)


def chosen(x, w):
    t = w.T if x[0, 0] > 0.0 else x.T @ w.T
    return np.sum(np.sin(t))


SQUARE = np.random.default_rng(0).standard_normal((3, 3))
FUNCTIONS = [layer, other_side, both, by_function, read_twice, bound_anew, in_a_loop, written, chosen]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_gradients_of_products_with_transposes(function: Any) -> None:
    x = SQUARE if function is chosen else SQUARE[:2]
    w = SQUARE[:, ::-1] * 0.7
    if function is both:
        x = SQUARE
    check_grads(function, (x, w), wrt=("x", "w"), order=1 if function is written else 2)


@pytest.mark.parametrize(("x", "w"), [((3,), (4, 3)), ((2, 3), (3,)), ((3,), (3,)), ((2, 3), (3, 1))], ids=str)
def test_vectors_and_narrow_matrices(x: tuple[int, ...], w: tuple[int, ...]) -> None:
    draw = np.random.default_rng(1).standard_normal

    def product(a, b):
        return np.sum(np.sin(a @ b.T)) if b.ndim < 2 or b.shape[-1] != 1 else np.sum(np.sin(b.T @ a.T))

    check_grads(product, (draw(x), draw(w)), wrt=(0, 1), order=1)


def test_the_factors_are_transposed() -> None:
    slope = srcgrad.grad(lambda x, w: np.sum((x @ w.T) ** 2), (0, 1))
    slope(SQUARE, SQUARE)
    assert "(x @ w.T)\n    w_bar = t_bar.T @ x\n    x_bar = t_bar @ w\n" in slope.source


def test_stacks_of_matrices_stay_as_they_are() -> None:
    draw = np.random.default_rng(2).standard_normal

    def stacked(x, w):
        return np.sum(np.sin(x @ w.T))

    check_grads(stacked, (draw((2, 3, 4)), draw((4, 4))), wrt=(0, 1), order=1)
    check_grads(stacked, (draw((2, 4)), draw((4, 4))), wrt=(0, 1), order=1)
