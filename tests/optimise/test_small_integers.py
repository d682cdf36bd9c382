"""Factors that are small integers: they have no sign, and their products may be too large for their type."""

import numpy as np
import pytest

import srcgrad

X = np.array([0.5, 0.7, -1.2])
UNSIGNED = np.array([1, 2, 200], np.uint8)
SIGNED = np.array([100, -128, 50], np.int8)
MASK = np.array([True, False, True])


def minus_first(x, w):
    return np.sum(-w * x * x)


def minus_of_a_product(x, w):
    return np.sum(-(w * x) * x)


def halves_of_products(x, w):
    """`w * 2.0 * w` is no `w * w` of small integers, even where it is halved."""
    return np.sum(w * 2.0 * w * x * x * 0.5)


def subtracted_in_place(x, w):
    rows = np.zeros((2, 3))
    for i in range(2):
        rows[i] -= w * x
        rows[i] -= -w * x * x
    return np.sum(rows * rows)


def layers(x, w):
    for _ in range(3):
        x = np.tanh(-w * x * 0.01) * (-w) - x * -(w * w)
    return np.sum(x * x)


def outer_products(x, w):
    total = np.zeros((3, 3))
    for _ in range(2):
        total = total - np.outer(w, x) * 0.1 - np.outer(np.sin(x), -w)
    return np.sum(total * total)


def powers(x, w):
    return np.sum((w % 7 + 1) ** x) + np.sum(np.exp(x) ** (w % 3))


def contracted(x, w):
    return np.einsum("i,i,i->", x, w, x) + np.einsum("i,i,i", w, np.sin(x), w)


SIGNLESS = [minus_first, minus_of_a_product, halves_of_products, subtracted_in_place, layers, outer_products]


@pytest.mark.parametrize("w", [UNSIGNED, SIGNED], ids=["uint8", "int8"])
@pytest.mark.parametrize("function", [*SIGNLESS, powers, contracted], ids=lambda f: f.__name__)
def test_factors_of_small_integers(function, w):
    """Also against the same numbers as the function has computed them, in differences of its gradient."""
    with np.errstate(all="ignore"):
        srcgrad.check_grads(function, (X, w), order=2)
        gradient, step = srcgrad.grad(function), 1e-5
        moved = [(gradient(X + step * e, w) - gradient(X - step * e, w)) / (2.0 * step) for e in np.eye(3)]
        np.testing.assert_allclose(srcgrad.hessian(function)(X, w), moved, rtol=1e-5, atol=1e-4)
        forward = srcgrad.jacobian(function, mode="forward")(X, w)
        np.testing.assert_allclose(forward, gradient(X, w), rtol=1e-9)


@pytest.mark.parametrize("w", [MASK, np.True_, np.uint8(3), 3, 2**65], ids=repr)
def test_powers_and_sums_of_numbers(w):
    def function(x, w):
        return x**w + (w + 1.0) ** (x / 8.0) - w * x + x / (w + 2.0)

    x = np.array([0.3, 0.5, 0.9]) if w is MASK else 0.9
    if isinstance(w, int) and w > 3:  # as a factor alone
        expected = srcgrad.grad(lambda x, w: w * x * x - x * w)(x, w)
        assert expected == pytest.approx(2.0**65 * 0.8)
    else:
        srcgrad.check_grads(function, (x, w), order=2)


def test_examples_of_numbers_that_are_no_floats():
    for given in ((2.0, np.uint8(3)), (np.float32(2.0), 2.0), (2.0, np.True_)):
        assert srcgrad.grad(lambda x, p: x * p, like=given)(*given) == given[1]


def moved_along(x, w):
    """A derivative in a function, of what takes integers: they have no tangent."""
    return srcgrad.jvp(minus_first, (x, w), (np.ones(3), None))[1]


def test_no_tangent_in_a_function():
    expected = srcgrad.jvp(minus_first, (X, UNSIGNED), (np.ones(3), None))[1]
    assert moved_along(X, UNSIGNED) == expected
    step = 1e-6
    differences = [
        (moved_along(X + step * e, UNSIGNED) - moved_along(X - step * e, UNSIGNED)) / (2 * step) for e in np.eye(3)
    ]
    np.testing.assert_allclose(srcgrad.grad(moved_along)(X, UNSIGNED), differences, rtol=1e-6)
