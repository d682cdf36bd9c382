"""Arithmetic of parts of arrays as loops: the same numbers, and no loop where that cannot be told."""

import numpy as np
import pytest

import srcgrad
from benchmarks.workloads import heat

pytest.importorskip("numba")
U = np.random.default_rng(0).random(9)
V = np.random.default_rng(1).random(9)
A, B = np.random.default_rng(2).random((2, 4, 6))


def text_and_function(function, args):
    """The text for these arguments, and the function that it defines, not compiled."""
    made = srcgrad.value_and_grad(function, ("u", "v", "c"), target="numba")
    _, kinds = made.arguments(args, {})
    found = made.executed_text(kinds)
    return found.text, found.function.__srcgrad_compiled__.py_func


def differences(u, v, c):
    w = c * u[1:-1] + v[2:] - v[:-2]
    w[1:] += w[:-1] * c
    return np.sum(w * w)


def shifted(u, v, c):
    w = u.copy()
    w[2:-2] = w[1:-3] * c + w[3:-1]
    w[1:] = w[:-1] - v[1:]
    return np.sum(w * w)


def two_names(u, v, c):
    p = u.copy()
    q = p
    q[1:-1] += p[2:] * c
    p[1:-1] *= q[:-2]
    return np.sum(p * v)


def shorter(u, v, c):
    x = u
    for _ in range(2):
        x = x[1:] - c * x[:-1]
    return np.sum(x * x) + np.sum(v)


def widened(u, v, c):
    w = u[1:] + v[:1] * c
    return np.sum(w * w)


def stored(u, v, c):
    i = u[1:-1]
    j = u[2:] - i
    k = np.sum(i * j)
    i[:] = j * c
    return k + np.sum(u * u) + np.sum(v)


def again(u, v, c):
    s = 0.0
    for _ in range(3):
        t = u[1:] * v[:-1] - c
        s += np.sum(t * u[1:])
        u[:-1] = t
    return s


def squares(u, v, c):
    w = u[1:, :-1] * v[:-1, 1:] - c * u[1:, 1:]
    u[1:, 1:] -= w
    w[:, 1:-1] *= 0.5
    return np.sum(u * v) + np.sum(w * w)


def rows(u, v, c):
    for k in range(u.shape[0]):
        u[k, 1:] += c * u[k, :-1] - v[k, 1:]
    return np.sum(u * u)


@pytest.mark.parametrize("function", [differences, shifted, two_names, shorter, widened, stored, again])
@pytest.mark.parametrize("length", [9, 3, 2, 1])
def test_the_same_numbers(function, length) -> None:
    same_numbers(function, (U[:length], V[:length], 0.3))


@pytest.mark.parametrize("function", [squares, rows])
def test_matrices(function) -> None:
    same_numbers(function, (A, B, 0.3))
    same_numbers(function, (A[:1], B[:1], 0.3))


def same_numbers(function, args) -> None:
    value, found = text_and_function(function, args)[1](*[np.copy(a) for a in args])
    due, wanted = srcgrad.value_and_grad(function, ("u", "v", "c"))(*args)
    assert np.isclose(value, due, rtol=1e-12)
    for one, other in zip(found, wanted, strict=True):
        assert np.shape(one) == np.shape(other) and np.allclose(one, other, rtol=1e-12, atol=1e-13)


def test_what_is_a_loop() -> None:
    text = text_and_function(heat_of, (A, 0.0, 0.2))[0]
    assert "[i + 1, j + 1] += c * around[i, j]" in text
    assert text.count("for i in range(") == 4  # two forwards, two backwards: products, then what is only added


def heat_of(u, v, c):
    u = u.copy()
    for _ in range(2):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += c * around
    return np.sum(u * u) + v


def test_what_is_no_loop() -> None:
    shift = "w[1:] = w[1:] + w[:-1] * c"
    assert shift in text_and_function(differences, (U, V, 0.3))[0]
    narrow = tuple(a.astype(np.float32) for a in (U, V))
    for args in ((*narrow, 0.3), (U, narrow[1], 0.3)):
        assert "for i in range(" not in text_and_function(widened, args)[0]


def first_view(u, v, c):
    """`w` shows what `u` was in the first trip."""
    s = 0.0
    w = v[1:]
    for k in range(3):
        z = u * (1.0 + c * k)
        if k == 0:
            w = z[1:]
        t = w[1:] * c - z[2:]
        s = s + np.sum(t * t)
    return s


def bound_anew(u, v, c):
    w = u[1:]
    u = v * c
    t = w[1:] - u[2:]
    return np.sum(t * t)


def summed_with_itself(u, v, c):
    s = c
    for _ in range(2):
        s += np.sum(u[1:] * s - v[1:])
    s = np.sum(u[1:] * s)
    return s * c


@pytest.mark.parametrize("function", [first_view, bound_anew, summed_with_itself])
def test_views_of_what_is_gone(function) -> None:
    same_numbers(function, (U, V, 0.3))


def test_compiled() -> None:
    args = heat.arguments(6, 3)
    value, found = srcgrad.value_and_grad(heat.heat, (0, 1), target="numba")(*args)
    due, wanted = heat.heat_hand(*args)
    assert np.isclose(value, due) and all(np.allclose(one, other) for one, other in zip(found, wanted, strict=True))


def test_an_index_outside_is_noticed() -> None:
    def picked(x, k):
        return x[k] * 2.0

    slope = srcgrad.grad(picked, target="numba")
    assert slope(U, 8)[8] == 2.0
    with pytest.raises(IndexError):
        slope(U, 9)

    def gathered(x, k):
        return np.sum(x[k])

    slope = srcgrad.grad(gathered, target="numba")
    assert slope(U, np.array([8, 8]))[8] == 2.0
    with pytest.raises(IndexError):
        slope(U, np.array([0, 9]))


def test_an_error_of_an_item_is_not_lost() -> None:
    def picked(x, k):
        return x[k] * x[0]

    found = srcgrad.each(picked, target="numba")
    assert found(A, np.array([0, 1, 2, 5]))[0].shape == (4,)
    with pytest.raises(srcgrad.DifferentiationError, match="an item raised an error"):
        found(A, np.array([0, 1, 2, 6]))


def test_indices_of_items_are_looked_at_unless_they_are_known() -> None:
    def known(x, c):
        return x[0] * x[2] * c, x[1] * x[1]

    def outside(x, c):
        return x[0] * x[5] * c

    def counted(x, c):
        s = 0.0
        for j in range(3):
            s = s + x[j] * c
        for j in range(4):
            s = s * (c + j)
        return s

    rate = np.linspace(0.5, 1.0, 4)
    found = srcgrad.each(known, target="numba")
    assert found(np.ones((4, 3)), rate)[1].shape == (4, 2, 3)
    assert "boundscheck" not in found.source and "x.shape != (count, 3) or c.shape != (count,)" in found.source
    for args in ((np.ones((4, 2)), rate), (np.ones((4, 3)), rate[:3])):
        with pytest.raises(ValueError, match="E5014"):
            found.njit(*args)
    with pytest.raises(IndexError):
        found(np.ones((4, 2)), rate)
    assert found(np.ones((4, 5)), rate)[1].shape == (4, 2, 5)
    of_fewer = srcgrad.each(counted, target="numba")
    assert of_fewer(np.ones((4, 3)), rate)[1].shape == (4, 3) and "boundscheck" not in of_fewer.source
    late = srcgrad.each(outside, target="numba")
    assert late(np.ones((4, 6)), rate)[1].shape == (4, 6) and "boundscheck" not in late.source
    with pytest.raises(IndexError):
        late(np.ones((4, 5)), rate)
