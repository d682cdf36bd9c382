"""In-place additions to adjoints: where a view of one, or what a sum hands on, is read no more."""

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.check.check import check_grads

X = np.linspace(-1.0, 1.0, 12).reshape(4, 3)


def waves(e, h, c, n):
    e, h = e.copy(), h.copy()
    for _ in range(n):
        h[:] += c * np.diff(e)
        e[1:-1] += c * np.diff(h)
    return np.sum(e * e)


def rows(x, w):
    x = x.copy()
    total = 0.0
    for k in range(3):
        row = x[k] * w
        x[k + 1] += np.tanh(row)
        x = x * 1.1
        total += np.sum(x[k] * row)
    return total


def residual(r, p, a):
    """Steps of a solver: what is subtracted is a product of a number and a vector."""
    alpha = (r @ r) / (p @ (a @ p))
    for _ in range(2):
        r = r - alpha * (a @ p)
        p = r + alpha * p
        alpha = alpha * np.sum(np.cos(p))
    return np.sum(r * r)


def stretched(r, s, p):
    """What is subtracted is narrower than what it is subtracted from."""
    for _ in range(2):
        r = r - s * p
        s = np.sin(s) * 2.0
    return np.sum(r * r)


def read_later(x, p, q):
    """The part of the adjoint that t gets is read behind an addition to the whole."""
    x = x.copy()
    total = 0.0
    for _ in range(2):
        t = p * q
        y = np.sin(x)
        x[1:] += t
        total += np.sum(np.cos(y))
    return np.sum(x * x) + total


def both_are_results(x, b):
    """The adjoint of h, which is asked for as well, is that of x with a term less."""
    y = np.sin(x)
    h = x + b
    return np.sum(h * h) + np.sum(y)


def half_is_kept(x, w):
    """The sum of an adjoint hands on the array of another, which is read there alone."""
    y = np.exp(x - np.max(x, axis=-1)[..., None])
    total = 0.5 * np.log(np.sum(y, axis=-1))
    return np.sum(np.tanh(x * w)) - np.sum(3.0 * total)


CASES = {
    "waves": (waves, (X[:, 0], X[:3, 1], 0.3, 3)),
    "rows": (rows, (X, X[0] + 2.0)),
    "residual": (residual, (X[0] + 1.5, X[1] + 0.4, np.eye(3) + 0.1)),
    "stretched": (stretched, (X, 0.3, X[0] + 1.2)),
    "stretched, a row": (stretched, (X, X[1], X[:, :1])),
    "read later": (read_later, (X[0], X[1, 1:], X[2, 1:] + 1.0)),
    "half": (half_is_kept, (X, 0.5 + X[1])),
}


@pytest.mark.parametrize("case", CASES)
def test_derivatives(case):
    f, args = CASES[case]
    srcgrad.check_grads(f, args, order=2, modes=("reverse", "forward"))


def test_the_whole_is_added_to_where_its_part_is_read_no_more():
    text = srcgrad.source(waves, wrt=("e", "h"))
    assert "e_bar += diff_transpose(sum_to(h_bar[:] * c, t1), e, 1, -1)" in text
    assert "h_bar += diff_transpose(" in text


def test_a_product_is_not_made_for_its_shape():
    text = srcgrad.source(residual, wrt=("r", "p"))
    assert "sum_to(r_bar * t3, alpha)\n" in text
    assert "alpha * t3)" not in text.partition("reversed")[2]


def test_a_copy_of_a_part_is_no_part():
    text = srcgrad.source(read_later, wrt=("x", "p"))
    assert "t_bar = x_bar[1:].copy()\n" in text
    assert "x_bar -= result_bar * np.sin(y) * np.cos(x)\n" in text


def test_what_a_sum_hands_on_is_added_to():
    text = srcgrad.source(half_is_kept)
    assert "x_bar += " in text


def test_what_is_returned_is_not_added_to():
    x, b = X[0], X[1]
    text = srcgrad.source(both_are_results, wrt=("x", "h"))
    assert "x_bar = x_bar + result_bar * np.cos(x)\n" in text
    x_bar, h_bar = srcgrad.grad(both_are_results, wrt=("x", "h"))(x, b)
    np.testing.assert_allclose(h_bar, 2.0 * (x + b), rtol=1e-15)
    np.testing.assert_allclose(x_bar, 2.0 * (x + b) + np.cos(x), rtol=1e-15)


def two_holders(u, x, n):
    """The adjoint of u is that of v as well, until a term is added to one of them."""
    total = 0.0
    for _ in range(n):
        v = np.sin(x)
        q = np.sum(v * v)
        w = np.cos(u)
        u = u + v
        total = total + q * np.sum(w * w)
    return np.sum(u * u) + total


def part_and_whole(u, x, n):
    """The adjoint of v is a part of that of u, until a term is added to the whole."""
    total = 0.0
    for _ in range(n):
        v = np.sin(x)
        q = np.sum(v * v)
        w = np.cos(u)
        u = np.concatenate((u[:1], u[1:] + v))
        total = total + q * np.sum(w * w)
    return np.sum(u * u) + total


@pytest.mark.parametrize("f", [two_holders, part_and_whole])
def test_what_is_handed_on_in_a_loop_is_not_added_to(f):
    n = 3 if f is two_holders else 2
    srcgrad.check_grads(f, (X[:, 0], X[: 4 if n == 3 else 3, 1], 2), order=2, modes=("reverse", "forward"))


def root(e, m, n):
    """A step of Newton, whose adjoint is summed to the shape of what it begins with, and then added to twice."""
    x = m
    for _ in range(n):
        x = x - (x - e * np.sin(x) - m) / (1.0 - e * np.cos(x))
    return np.sum(x * x)


def swings(x, v, k, n):
    """The adjoint of v has a second name while it is summed: it is bound anew, not added to."""
    for _ in range(n):
        w = v
        v = v - 0.1 * k * x
        x = x + 0.1 * w
        v = v - 0.1 * k * x
    return np.sum(x * v)


@pytest.mark.parametrize("m", [0.7, np.float64(0.7), np.array(0.7), np.array([0.7, 1.1]), np.array([[0.7], [1.1]])])
@pytest.mark.parametrize("e", [0.3, np.array([0.3, 0.2]), np.array([0.3])])
def test_what_is_left_of_an_adjoint_is_added_to_in_place(m, e) -> None:
    text = srcgrad.source(root, wrt=("e", "m"))
    assert "x_bar += sum_to(" in text and "e_bar += sum_to(" in text and "x_bar = x_bar" not in text
    srcgrad.check_grads(root, (e, m, 3), wrt=(0, 1), order=2, modes=("reverse", "forward"))
    srcgrad.check_grads(swings, (e, m, 1.5, 3), wrt=(0, 1, 2), order=2, modes=("reverse", "forward"))
    _, back = srcgrad.vjp(swings, e, m, 1.5, 3, wrt=(0, 1, 2))
    for one, two in zip(back(1.3), back(1.3), strict=True):
        np.testing.assert_array_equal(one, two)


def two_stages(y, h, n):
    """Steps of a method of second order: the adjoint begins as an array filled with the seed."""
    for _ in range(n):
        middle = y + 0.5 * h * np.sin(y)
        y = y + h * np.cos(middle)
    return np.sum(y)


@pytest.mark.parametrize(
    "start", [X, X[0], X[:1, 0], np.array(0.3), 0.3, np.float64(0.3)], ids=lambda s: str(np.shape(s))
)
def test_adjoints_that_are_filled_with_the_seed(start):
    """An array that `np.full_like` has made is the text's own: it is added to in place."""
    assert "y_bar +=" in srcgrad.source(two_stages)
    check_grads(two_stages, (start, 0.1, 3), order=2)
    gradient = srcgrad.vjp(two_stages, start, 0.1, 3)[1]
    seed = np.array(2.0)
    first, second = gradient(seed), gradient(seed)
    np.testing.assert_array_equal(first[0], second[0])
    assert seed == 2.0
