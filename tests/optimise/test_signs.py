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


def falling(w, h, n):
    """A loop whose products of matrices are subtracted."""
    for _ in range(n):
        h = h - 0.1 * np.tanh(w @ h) - w @ np.sin(h)
    return np.sum(h * h)


def twice(w, x, y):
    p = 1.0 / (1.0 + np.exp(-(x @ w)))
    return -np.mean(y * np.log(p))


def test_products_that_are_subtracted_are_one_product_behind_the_loop() -> None:
    text = srcgrad.source(falling, wrt=("w", "h"))
    assert text.count("sum_products(matmul_left, ") == 2 and "w_bar -= matmul" not in text
    srcgrad.check_grads(falling, (0.3 * A, A[0], 3), order=2, modes=("reverse", "forward"))


def test_no_sign_stands_before_another() -> None:
    assert "--" not in srcgrad.source(twice)
    srcgrad.check_grads(twice, (A[0], A, A[1]), order=2, modes=("reverse", "forward"))


def unsigned(x, w):
    """`-w` of an unsigned w is no negative number: 255 for 1."""
    for _ in range(2):
        x = x + (-w) @ x
    return np.sum(x * 2.0 + (-w[0]) * x)


def test_minus_of_unsigned_integers_stays() -> None:
    w, x = np.array([[1, 2], [3, 4]], np.uint8), np.array([0.5, 0.7])
    with np.errstate(over="ignore"):
        srcgrad.check_grads(lambda x: unsigned(x, w), (x,), order=1, modes=("reverse", "forward"))
        expected = [unsigned(x + e, w) - unsigned(x, w) for e in np.eye(2)]
        np.testing.assert_allclose(srcgrad.grad(unsigned)(x, w), expected, rtol=1e-9)
        np.testing.assert_allclose(srcgrad.jacobian(unsigned, mode="forward")(x, w), expected, rtol=1e-9)


def carried(u, nu):
    """Shifts along an axis and of all elements."""
    flux = 0.5 * u**2
    moved = (np.roll(flux, -1) - np.roll(flux, 1)) * nu
    return np.sum((moved - np.roll(moved, (1, 2), (0, 1)) * np.roll(u, -1, axis=1)) ** 2)


def test_what_is_moved_is_moved_back_by_a_number() -> None:
    text = srcgrad.source(carried, wrt=("u", "nu"))
    assert "np.negative" not in text and "--" not in text and "np.roll(-" not in text
    assert "(-1, -2), (0, 1))" in text
    srcgrad.check_grads(carried, (A, 0.3), order=2, modes=("reverse", "forward"))


def test_what_is_stretched_and_then_changed_keeps_its_minus() -> None:
    """`s_bar = fit_to(-y_bar * k, s)` is nobody's to change, and `s_bar[1] = 0.0` failed; with the minus it is new."""

    def written(s):
        s[1] = 0.5
        s = np.negative(s) * round(3.7)
        return np.sum(s)

    np.testing.assert_array_equal(srcgrad.grad(written)(np.array([0.2, 0.3])), [-4.0, 0.0])


def test_a_loop_that_binds_what_a_product_scales_gives_no_buffer() -> None:
    """Where buffers are reused, what a loop's header binds was asked for the value of its statement."""

    def last(m, g):
        for b in [g, g]:
            m -= b
        m = (a := b * b) * m * m
        return a + 0.9

    assert srcgrad.jvp(last, (0.4, 0.5), (0.7, 1.0)) == (1.15, 1.0)
