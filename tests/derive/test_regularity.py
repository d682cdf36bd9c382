"""Values that are proved positive need no mask, and nothing else is taken for one."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import srcgrad

SOME = np.array([0.0, 0.4, 1.3])


def pairs(x):
    d = x[:, None] - x
    r = np.sqrt(np.sum(d * d, axis=-1) + 1e-9)
    return np.sum(np.triu(1 / r[:, None], 1))


def likelihood(x):
    p = np.clip(1 / (1 + np.exp(-x)), 1e-6, 1 - 1e-6)
    return np.sum(np.log(p))


def lengths(x):
    eps = 1e-6
    r = np.sqrt(np.einsum("ij,ij->i", x, x) + eps)
    return np.sum(np.where(r > 1.0, x[:, 0] / r, 0.0))


def powers(x):
    s = x**4 + np.abs(x) + 0.1
    return np.sum(np.where(x > 0.5, s**-1.5 + np.log(s), 0.0))


def bounded(x):
    s = np.maximum(x, 1e-3)
    return np.sum(np.triu(np.log(s)[:, None] / np.sqrt(s), 1))


def deviations(x):
    return np.sum(np.where(x > 0.5, (x - np.mean(x)) / np.sqrt(np.var(x) + 0.01), 0.0))


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (pairs, SOME),
        (likelihood, SOME),
        (lengths, np.outer(SOME, [1.0, 0.7])),
        (powers, SOME + 0.15),
        (bounded, SOME + 0.1),
        (deviations, SOME),
    ],
)
def test_proved_regular_chains_have_no_masks(function, x) -> None:
    text = srcgrad.source(function)
    assert ", 1.0)" not in text and "dtype=np.bool_" not in text, text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert srcgrad.check_grads(function, (x,), order=2) is None


def overwritten(x):
    s = x * x + 1.0
    s[0] = 0.0
    return np.sum(np.sqrt(s)[1:])


def overwritten_by_a_view(x):
    s = x * x + 1.0
    v = s[:2]
    v[0] = 0.0
    return np.sum(np.sqrt(s)[1:])


def overwritten_by_another_name(x):
    s = x * x + 1.0
    v = s
    v[0] = 0.0
    return np.sum(np.sqrt(s)[1:])


def divided_by_zero(x):
    return np.sum(np.where(x > 0.0, x / np.exp(x - 2000.0 * (x == 0.0)), 0.0))


def reduced_by_one(x):
    s = x * x + 1.0
    v = s[:]
    s -= 1.0
    return np.sum(np.sqrt(v)[1:])


def underflow(x):
    return np.sum(np.where(x > 0.0, np.sqrt(np.exp(x - 2000.0 * (x == 0.0))), 0.0))


def soft_maximum(x):
    s = np.logaddexp(x - np.log(2.0), x - np.log(2.0))
    return np.sum(np.sqrt(s)[1:])


def turned_bounds(x):
    return np.sum(np.sqrt(np.clip(x, 1.0, x * 1.0))[1:])


def clipped_below_zero(x):
    return np.sum(np.sqrt(np.clip(x, -1.0, None))[1:])


def falling_in_a_loop(x):
    s = 1.0
    for k in range(1, 3):
        s = s * (x * x) if k == 1 else s + 0.0 * x
    return np.sum(np.sqrt(s)[1:])


def difference(x):
    s = (x * x + 1.0) - 1.0
    return np.sum(np.sqrt(s)[1:])


def product(x):
    a = x[:, None] * np.array([1.0, -1.0, 0.0])
    return np.sum(np.sqrt((a @ a) * 0.0 + x)[:, 1:])


def chosen(x):
    s = np.where(x > 0.0, x * x + 1.0, x)
    return np.sum(np.log(s)[1:])


@pytest.mark.parametrize(
    "function",
    [
        overwritten,
        overwritten_by_a_view,
        overwritten_by_another_name,
        divided_by_zero,
        reduced_by_one,
        underflow,
        soft_maximum,
        turned_bounds,
        clipped_below_zero,
        falling_in_a_loop,
        difference,
        product,
        chosen,
    ],
)
def test_what_may_be_zero_has_its_mask(function) -> None:
    with np.errstate(all="ignore"):
        try:
            got = srcgrad.grad(function)(SOME)
        except srcgrad.DifferentiationError as error:
            assert function is reduced_by_one, error
            return
        wanted = [srcgrad.jvp(function, (SOME,), (e,))[1] for e in np.eye(3)]
    np.testing.assert_allclose(got, wanted, rtol=1e-12)  # the two modes round a few sums otherwise


DATA = np.array([np.nan, 1.0, 2.0])


def gaps(x):
    s = np.sqrt(DATA * DATA + 1.0)
    return np.sum(np.where(np.isnan(DATA), 0.0, x / s))


def test_squares_of_gaps_in_data_are_no_numbers() -> None:
    np.testing.assert_allclose(srcgrad.grad(gaps)(SOME), [0.0, 0.5**0.5, 0.2**0.5], rtol=1e-15)


def shares(x, data):
    scaled = data * 1.0
    return np.sum(np.where(np.isnan(DATA), 0.0, x * (1.0 / (scaled * scaled + 1.0 + x * x * 0.0))))


def test_quotients_of_gaps_in_data_are_no_numbers() -> None:
    np.testing.assert_allclose(srcgrad.grad(shares)(SOME, DATA), [0.0, 0.5, 0.2], rtol=1e-15)


def small(x):
    return np.sum(np.where(x >= 0.0, x, np.sqrt((x * x + 1.0) * 1e-50)))


def test_what_is_zero_as_a_float32_has_its_mask() -> None:
    with np.errstate(all="ignore"):
        assert srcgrad.grad(small)(SOME.astype(np.float32)).tolist() == [1.0, 1.0, 1.0]


def complex_squares(x):
    z = x + 1j * np.sqrt(1.0 - x)
    s = z * z + 1.0
    return np.sum(np.where(x > 0.0, np.abs(np.sqrt(s)), 0.0))


def test_squares_of_complex_numbers_may_be_negative() -> None:
    x = np.array([0.0, 0.3, 0.6])  # 1j * 1j + 1.0 is 0
    with np.errstate(all="ignore"):
        got = srcgrad.grad(complex_squares)(x)
    wanted = [(complex_squares(x + 1e-6 * e) - complex_squares(x - 1e-6 * e)) / 2e-6 for e in np.eye(3)[1:]]
    np.testing.assert_allclose(got, [0.0, *wanted], rtol=1e-8)  # differences
