"""Splines that are made before and called: as globals, as arguments, with values of several axes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, make_interp_spline

from srcgrad import check_grads, grad, source
from srcgrad.errors import DifferentiationError

T = np.linspace(0.0, 4.0, 6)
TABLE = CubicSpline(T, np.sin(T))
PATH = make_interp_spline(T, np.stack([np.sin(T), np.cos(T)], axis=1))
WAVE = CubicSpline(T, np.exp(1j * T))
X = np.array([0.3, 1.7])


def looked_up(x):
    return np.sum(TABLE(x) ** 2)


def speed(t):
    return np.sum(PATH(t, 1) ** 2)


def given(x, table):
    return np.sum(table(x) * x)


def intensity(x):
    return np.sum(np.abs(WAVE(x)) ** 2)


def test_splines_of_the_module():
    check_grads(looked_up, (X,), order=2)
    check_grads(speed, (X,), order=2)
    check_grads(speed, (1.3,), order=2)


def test_the_text_calls_the_spline_for_its_slope():
    assert "* TABLE(x) * TABLE(x, 1)" in source(looked_up)


def test_a_spline_as_an_argument():
    assert np.allclose(grad(given)(X, TABLE), TABLE(X) + X * TABLE(X, 1), rtol=1e-14)


def test_complex_values_of_a_spline_are_refused():
    with pytest.raises(DifferentiationError, match="E5017"):
        grad(intensity)(X)


def made_here(y):
    return CubicSpline(T, y)(1.3)


def test_a_spline_that_is_made_of_what_is_differentiated_is_refused():
    with pytest.raises(DifferentiationError, match=r"E500[13]"):
        grad(made_here)(np.sin(T))
