"""Logarithms of ratios and products: their adjoints divide by an operand, and where they must not."""

from __future__ import annotations

import math
import re
from typing import Any  # functions of arrays

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.check.check import check_grads


def quotient(a, b):
    return np.sum(np.log(a / b) * a)


def product(a, b):
    return np.sum(np.log(a * b) * a)


def in_lines(a, b):
    ratio = a / b
    shift = np.sin(a)
    return np.sum(np.log(ratio) * shift)


def of_numbers(a, b):
    return np.sum(np.log(2.0 * a) * np.log(b / 3.0) * np.log(4.0 / a))


def of_expressions(a, b):
    return np.sum(np.log((a + 1.0) / np.sum(b * b)))


def of_one_name(a, b):
    return np.sum(np.log(a * a) * b)


def read_again(a, b):
    ratio = a / b
    return np.sum(ratio * np.log(ratio))


def bound_anew(a, b):
    ratio = a / b
    a = a * a
    return np.sum(np.log(ratio) * a)


def written_between(a, b):
    held = a + 0.0 * b
    ratio = held / b
    held[0] = 2.0 * b[0]
    return np.sum(np.log(ratio) * held)


def in_a_loop(a, b):
    for _ in range(3):
        a = 1.0 + a * np.log(a / b) ** 2
        b = b + 0.1 * np.log(a * b)
    return np.sum(a * b)


DIVIDED = [quotient, product, in_lines, of_numbers, of_expressions, in_a_loop]
OTHERS = [of_one_name, read_again, bound_anew, written_between]
A, B = np.array([1.3, 0.6, 2.5]), np.array([0.7, 1.9, 1.1])


@pytest.mark.parametrize("function", [*DIVIDED, *OTHERS], ids=lambda f: f.__name__)
def test_gradients(function: Any) -> None:
    check_grads(function, (A, B), order=2)


@pytest.mark.parametrize("function", [quotient, product, of_numbers, of_expressions], ids=lambda f: f.__name__)
@pytest.mark.parametrize("shapes", [((3,), (2, 1)), ((2, 3), (1, 3)), ((), (3,)), ((3,), ())])
def test_broadcasting(function: Any, shapes: tuple[tuple[int, ...], ...]) -> None:
    draw = np.random.default_rng(1)
    check_grads(function, tuple(draw.uniform(0.4, 2.0, shape) for shape in shapes), order=2)
    check_grads(function, tuple(float(draw.uniform(0.4, 2.0)) for _ in shapes), order=2)


def code(function: Any) -> str:
    return re.sub(r"#.*", "", srcgrad.source(function, wrt=("a", "b"), like=(A, B)))


def test_neither_the_ratio_nor_the_product_is_kept() -> None:
    for function in (quotient, product):
        assert "/ a" in code(function)
        assert not re.search(r"t\d+ = a [/*] b", code(function))
    assert "/ held" not in code(written_between)


def logarithm_of_quotient(a, b):
    return np.log(a / b)


def logarithm_of_product(a, b):
    return np.log(a * b)


def test_zeros_infinities_and_negative_numbers() -> None:
    a, b = np.array([0.0, 2.0, np.inf, -2.0, 1e300, 5.0]), np.array([2.0, 0.0, 2.0, -4.0, 1e-300, np.inf])
    with np.errstate(all="ignore"):
        _, back = srcgrad.vjp(logarithm_of_quotient, a, b)
        a_bar, b_bar = back(np.ones(6))
        np.testing.assert_array_equal(a_bar, 1.0 / a)
        np.testing.assert_array_equal(b_bar, -1.0 / b)
        _, back = srcgrad.vjp(logarithm_of_product, a, b)
        a_bar, b_bar = back(np.ones(6))
        np.testing.assert_array_equal(a_bar, 1.0 / a)
        np.testing.assert_array_equal(b_bar, 1.0 / b)
        for function in (logarithm_of_quotient, logarithm_of_product):
            found = srcgrad.grad(function)(0.0, np.float64(2.0))
            assert found == math.inf


def test_integers_and_narrow_floats() -> None:
    counts = np.array([1, 2, 200], dtype=np.uint8)
    for dtype in (np.float16, np.float32, np.float64):
        x = A.astype(dtype)
        for function, sign in ((quotient_of_counts, -1.0), (quotient_by_counts, 1.0), (product_with_counts, 1.0)):
            found = srcgrad.grad(function)(x, counts)
            assert found.dtype == dtype
            np.testing.assert_allclose(found, sign / A, rtol=4 * float(np.finfo(dtype).eps))


def quotient_of_counts(x, counts):
    return np.sum(np.log(counts / x))


def quotient_by_counts(x, counts):
    return np.sum(np.log(x / counts))


def product_with_counts(x, counts):
    return np.sum(np.log(counts * x))


def test_complex_numbers() -> None:
    a, b = A + 0.5j * B, B - 0.3j
    for function in (logarithm_of_quotient, logarithm_of_product):
        check_grads(function, (a, b), order=1)


def weighted(a, b, w):
    return np.sum(w * np.log(a / b) + w * np.log(a * b) ** 2)


def by_another(a, b, w):
    """What is divided again is divided by another name than the ratio was."""
    c = a / b
    q = c / w
    return np.sum(np.log(q) * b) + np.sum(np.log(c) / w)


def test_where_weights_are_larger() -> None:
    args = A, B, np.stack([A, B])
    text = srcgrad.source(weighted, wrt=("a", "b"), like=args)
    assert "a_bar = (t1_bar + t2_bar) / a\n" in text and "b_bar = (t1_bar - t2_bar) / b\n" in text, text
    assert " = a / b\n" not in text, text


@pytest.mark.parametrize("function", [weighted, by_another], ids=lambda f: f.__name__)
@pytest.mark.parametrize("shapes", [(3, 3, (4, 3)), (3, (2, 1), (4, 2, 3)), (3, 3, 3), ((1,), 3, ())], ids=str)
def test_weights_of_larger_shape(function: Any, shapes: tuple[Any, ...]) -> None:
    draw = np.random.default_rng(5)
    args = tuple(draw.uniform(0.4, 2.0, shape) for shape in shapes)
    check_grads(function, args, order=2)
    plain = srcgrad.grad(function, wrt=(0, 1, 2))(*args)
    for one, other, arg in zip(srcgrad.grad(function, wrt=(0, 1, 2), like=args)(*args), plain, args, strict=True):
        assert one.shape == other.shape == arg.shape
        np.testing.assert_allclose(one, other, rtol=1e-12)


def halved(x):
    safe = np.where(x > 0.0, x, 1.0)
    return np.sum(np.log(0.5 * np.where(safe > 1.0, safe, 2.0)))


def test_nothing_is_kept_to_divide_by_it() -> None:
    text = srcgrad.source(halved, like=(A,))
    assert "/ (0.5 * np.where(safe > 1.0, safe, 2.0))\n" in text, text
    check_grads(halved, (A,), order=2)
