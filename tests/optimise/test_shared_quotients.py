"""Directions that a function has computed are read where its derivative would divide again."""

import numpy as np
import pytest

import srcgrad

D = np.array([[0.4, -0.3, 0.5], [0.2, 0.7, -0.1]])


def stretched(d):
    """The adjoint of the lengths is one number: no axis can be added to it."""
    length = np.sqrt(np.sum(d * d, axis=1))
    return np.sum(length) + np.sum(np.sin(d / length[:, None]))


def pulled(d, n):
    """Lengths and directions that a loop binds anew."""
    for _ in range(n):
        length = np.sqrt(np.sum(d * d))
        unit = d / length
        d = d + 0.1 * length * np.sin(unit)
    length = np.sqrt(np.sum(d * d))
    return np.sum(np.cos(d / length)) * length


def test_one_number_gets_no_axis() -> None:
    srcgrad.check_grads(stretched, (D,), order=2, modes=("reverse", "forward"))
    run = srcgrad.grad(stretched, like=(D,))
    np.testing.assert_allclose(run(D), srcgrad.grad(stretched)(D), rtol=1e-12)
    srcgrad.check_grads(pulled, (D, 3), wrt=(0,), order=2, modes=("reverse", "forward"))


def test_a_direction_is_read() -> None:
    def moved(r, p):
        length = np.sqrt(np.sum(r * r))
        k = r / length
        return np.sum(k * p)

    text = srcgrad.source(moved, wrt=("r",), like=(D[0], D[0]))
    assert "    r_bar = t - t @ k * k\n" in text


def multiplied(x, r, z, p, s):
    """A product of the quotient's parts, whose adjoint has the look of `g / x * r` but for the division."""
    u = r / x
    return np.sum(p * u) + np.sum(z * r * x)


def by_another(x, r, z, p, s):
    """The adjoint `g / s * r` divides by another."""
    u = r / x
    return np.sum(p * u) + np.sum(z * r / s)


def of_a_product(x, r, z, p, s):
    """What is known is a product of the parts of `g / x * r`, not their quotient."""
    u = r * x
    return np.sum(p * u) + np.sum(z * r / x)


def changed(x, r, z, p, s):
    """The numerator has changed between the quotient and the division."""
    q = r.copy()
    u = q / x
    first = np.sum(p * u)
    q += 1.0
    return first + np.sum(z * q / x)


@pytest.mark.parametrize("function", [multiplied, by_another, of_a_product, changed])
def test_what_only_looks_like_the_quotient(function) -> None:
    args = D, D + 1.0, D, D + 2.0, D - 1.0
    run = srcgrad.grad(function, wrt=("z", "p"), like=args)
    for found, due in zip(run(*args), srcgrad.jacobian(function, wrt=("z", "p"), mode="forward")(*args), strict=True):
        np.testing.assert_allclose(found, due, rtol=1e-13)


def test_lengths_widened_by_an_axis() -> None:
    def turned(d, p):
        length = np.sqrt(np.sum(d * d, axis=1))
        u = d / length[:, None]
        return np.sum(p * u)

    text = srcgrad.source(turned, wrt=("d",), like=(D, D))
    assert "(t * u).sum(axis=1)[:, None] * u\n" in text, text
