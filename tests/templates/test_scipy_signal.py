"""Filters and integrals of SciPy: a program that uses them, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate, interpolate, ndimage, signal

from srcgrad import grad
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.check.check import check_grads


def deblurred(image: Any, kernel: Any, seen: Any) -> Any:
    smooth = ndimage.gaussian_filter(image, 0.7)
    left = signal.convolve(smooth, kernel, mode="same") - seen
    return np.sum(left * left) + integrate.trapezoid(left[0] * left[0])


def test_a_program_of_filters():
    generator = np.random.default_rng(3)
    check_grads(deblurred, tuple(generator.normal(size=s) for s in ((4, 5), (3, 2), (4, 5))), order=2, wrt=(0, 1))


def recursive(b: Any, a: Any, x: Any) -> Any:
    return np.sum(signal.lfilter(b, a, x) ** 2)


def test_coefficients_of_a_recursive_filter_whose_first_is_not_one():
    args = (np.array([0.5, 0.2, 0.1]), np.array([1.5, -0.3]), np.linspace(-1.0, 2.0, 6))
    check_grads(recursive, args, order=2)


def even(x: Any) -> Any:
    return np.sum(signal.correlate2d(x, np.ones((2, 2)), "same"))


def turned(x: Any) -> Any:
    return np.sum(ndimage.rotate(x, 30.0))


def bounded(x: Any) -> Any:
    return integrate.solve_bvp(lambda s, y: y * x[0, 0], lambda a, b: a, np.eye(2)[0], np.eye(2)).y[0, 0]


def smoothed(x: Any) -> Any:
    return np.sum(interpolate.splrep(np.arange(3.0), x[0], k=2)[1])


@pytest.mark.parametrize("f", [even, turned, bounded, smoothed])
def test_what_is_refused(f):
    with pytest.raises(DifferentiationError) as caught:
        grad(f)(np.ones((3, 3)))
    assert caught.value.code in ("E5001", "E5006")
