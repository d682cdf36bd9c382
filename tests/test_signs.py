"""Minus signs, and division by an operator."""

import numpy as np

import srcgrad


def inverse(a, b):
    c = a @ b
    return np.sum(np.sin(c) * np.linalg.inv(c)) + np.sum(np.linalg.solve(c, b))


def scaled(alpha, a, n):
    """The logarithm of what a loop divides by."""
    total = 0.0
    for _ in range(n):
        s = np.sum(alpha)
        total += np.log(s)
        alpha = (alpha / s) @ a
    return total


A = np.random.default_rng(3).random((3, 3)) + 2.0 * np.eye(3)


def test_minus_in_front_of_products_of_matrices() -> None:
    text = srcgrad.source(inverse, wrt=("a", "b"))
    assert "+ -" not in text and "(-" not in text
    srcgrad.check_grads(inverse, (A, A + 0.3), order=2, modes=("reverse", "forward"))


def test_a_sum_that_a_loop_keeps_is_numpys() -> None:
    text = srcgrad.source(scaled, wrt=("alpha", "a"))
    assert "s_bar += total_bar / s\n" in text
    srcgrad.check_grads(scaled, (A[0], A, 3), order=2, modes=("reverse", "forward"))
