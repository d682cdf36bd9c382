"""Directions that a function has computed are read where its derivative would divide again."""

import numpy as np

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
