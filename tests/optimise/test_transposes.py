"""Transposes in products: of matrices, of what may be something else, of what a loop binds anew."""

from __future__ import annotations

from typing import Any  # arguments of arbitrary functions

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.check.check import check_grads


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


def evidence(scale, x, y):
    """A Gaussian process: factors of known shape are solved for, and transposed back."""
    d = x[:, None] - x[None, :]
    k = np.exp(-scale * d * d) + 0.5 * np.eye(len(y))
    low = np.linalg.cholesky(k)
    alpha = np.linalg.solve(low.T, np.linalg.solve(low, y))
    return 0.5 * np.sum(y * alpha) + np.sum(np.log(np.diag(low))) + np.sum(np.linalg.inv(k) * d * x)


def balanced(c, a, b, n):
    """Products with a matrix and with its transpose."""
    k = np.exp(-c)
    u = np.ones_like(a)
    for _ in range(n):
        v = b / (k.T @ u)
        u = a / (k @ v)
    return np.sum(u[:, None] * k * v[None, :] * c)


R = np.random.default_rng(5).random


@pytest.mark.parametrize("y", [R(4), R((4, 2)), R((4, 4))], ids=["vector", "columns", "square"])
def test_systems_of_known_shapes(y) -> None:
    arguments = (0.7, R(4), y)
    text = srcgrad.source(evidence, wrt=("scale", "x", "y"), like=arguments)
    assert ".T.T" not in text and ".mT, columns" not in text and "np.linalg.solve(low" in text
    made = srcgrad.grad(evidence, wrt=(0, 1, 2), like=arguments)(*arguments)
    for one, two in zip(made, srcgrad.grad(evidence, wrt=(0, 1, 2))(*arguments), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-12)
    srcgrad.check_grads(evidence, arguments, wrt=(0, 1, 2), order=2, modes=("reverse", "forward"))


def test_nothing_is_transposed_twice() -> None:
    arguments = (R((3, 4)), R(3), R(4), 3)
    text = srcgrad.source(balanced, wrt=("c", "a", "b"), like=arguments)
    assert ".T.T" not in text and "np.outer" not in text
    made = srcgrad.grad(balanced, wrt=(0, 1, 2), like=arguments)(*arguments)
    for one, two in zip(made, srcgrad.grad(balanced, wrt=(0, 1, 2))(*arguments), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-12)
    srcgrad.check_grads(balanced, arguments, wrt=(0, 1, 2), order=2, modes=("reverse", "forward"))
