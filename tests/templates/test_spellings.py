"""What SciPy's users write: objects, tuples and parts of results, against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import interpolate, signal, stats
from scipy.integrate import dblquad
from scipy.interpolate import splev, splrep

from srcgrad import grad, jvp

K = np.linspace(0.0, 4.0, 6)
T = np.linspace(0.0, 1.0, 5)
KNOTS = np.array([0.0, 0.0, 0.0, 1.0, 2.0, 4.0, 4.0, 4.0])
DENSITY = stats.gaussian_kde(np.stack((np.sin(9.0 * K), K)))
WINDOW = np.hanning(8)


def splines(x: Any) -> Any:
    tck = splrep(K, np.sin(K * x), s=0)
    smooth = interpolate.UnivariateSpline(K, np.cos(K * x), s=0)
    local = interpolate.Akima1DInterpolator(K, np.sin(2.0 * K * x))
    basis = interpolate.BSpline(KNOTS, np.sin(x * np.arange(5.0)), 2)
    return np.sum(splev(T * x, tck, der=1)) + smooth(1.3) * local(0.7 * x) + basis(1.5 * x)


def samples(x: Any) -> Any:
    slope, intercept, r, p, error = stats.linregress(T, np.sin(9.0 * x * T))
    whole = stats.linregress(T * x, T**2)
    near = stats.gaussian_kde(np.sin(9.0 * x * T), 0.4)(0.3)[0] + DENSITY(np.array([0.5, 1.0]) * x)[0]
    return slope * intercept + r * p * error + whole.slope * whole.intercept_stderr + near


def spectra(x: Any) -> Any:
    wave = np.sin(0.7 * x * np.arange(24.0))
    frequencies, powers = signal.welch(wave, 2.0, nperseg=8, scaling="spectrum")
    _, others = signal.welch(wave, window=WINDOW, detrend=False)
    return np.trapezoid(powers, frequencies) + others[2] + signal.periodogram(wave, x, "hann")[1][3]


def areas(x: Any) -> Any:
    level = x * x
    numbers = dblquad(lambda v, u: np.exp(-x * u * v), 0.0, 1.0, 0.0, level)[0]
    return numbers + dblquad(lambda v, u, k: k * u * v, 0.0, x, 0.5, lambda u: u * x, args=(x,))[0]


@pytest.mark.parametrize("program", [splines, samples, spectra, areas])
def test_derivatives(program):
    wanted = (program(1.1001) - program(1.0999)) / 2e-4
    assert grad(program)(1.1) == pytest.approx(wanted, rel=1e-5)
    assert jvp(program, (1.1,), (1.0,))[1] == pytest.approx(wanted, rel=1e-5)
