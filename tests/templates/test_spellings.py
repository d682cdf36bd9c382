"""What SciPy's users write: objects, tuples and parts of results, against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from scipy import interpolate, signal, sparse, stats
from scipy.integrate import dblquad, solve_ivp
from scipy.interpolate import splev, splrep
from scipy.sparse.linalg import spsolve

from srcgrad import grad, hvp, implicit
from srcgrad.core.errors import DifferentiationError

K = np.linspace(0.0, 4.0, 6)
T = np.linspace(0.0, 1.0, 5)
KNOTS = np.array([0.0, 0.0, 0.0, 1.0, 2.0, 4.0, 4.0, 4.0])
DENSITY = stats.gaussian_kde(np.stack((np.sin(9.0 * K), K)))
WINDOW = np.hanning(8)


def splines(x: Any) -> Any:
    tck = splrep(K, np.sin(K * x), s=0)
    basis = interpolate.BSpline(KNOTS, np.sin(x * np.arange(5.0)), 2)
    return splev(0.7 * x, tck, der=1) + basis(1.5 * x)


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


def dense(x: Any) -> Any:
    k = 2.0 * x
    sol = solve_ivp(
        lambda t, y, k: -k * y * t, (0.0, 1.0), [x, 1.0], dense_output=True, args=(k,), rtol=1e-9, atol=1e-9
    )
    k = k + 1.0
    late = lambda t: sol.sol(t)[0]  # noqa: E731 (users write so)
    return np.sum(sol.sol(np.array([0.9, 0.3]) * x) ** 2) + k * late(0.5) + sol.y[1, -1]


def implicitly(x: Any) -> Any:
    power = implicit(lambda p: np.cbrt(p * x), lambda u, p: u**3 - p * x)
    return power(x * x) + implicit(lambda p, q: p / q, lambda u, p, q: u * q - p)(x, 3.0 + x)


LINE = np.poly1d([2.0, -1.0, 0.5])


def polynomials(x: Any) -> Any:
    p = np.poly1d(np.polyfit(K, np.sin(x * K), 2))
    slope = p.deriv()
    q = Polynomial([1.0, 2.0 * x, 3.0])
    area = q.integ()(x) - q.integ()(0.5)
    return p(x) * slope(1.3) + p.deriv(2)(x) + area + LINE.deriv()(x) + Polynomial.fit(K * x, np.cos(K), 3)(1.5)


def shared(x: Any) -> Any:
    coefficients = [x, 2.0, 1.0]
    p = np.poly1d(coefficients)
    coefficients[0] = 5.0 * x
    return p(x)


def test_a_list_that_changes_later_is_another_one():
    assert grad(shared)(1.5) == pytest.approx(3.0 * 1.5**2 + 2.0, rel=1e-14)


def changed_sample(x: Any) -> Any:
    sample = np.sin(x * T)
    density = stats.gaussian_kde(sample)
    sample[0] = 9.0 * x
    return density(0.3)[0]


def test_a_density_whose_sample_changes_is_refused():
    """SciPy keeps the array, and the covariance that it had."""
    with pytest.raises(DifferentiationError, match="E5010"):
        grad(changed_sample)(1.5)


def turned(x: Any) -> Any:
    matrix = sparse.diags([(1.0 + 2.0j) * np.ones(4), -np.ones(3)], [0, 1], format="csc")
    return np.sum(np.abs(matrix @ (x * np.arange(4.0)) + 1j * x) ** 2)


def systems(x: Any) -> Any:
    matrix = sparse.csr_matrix(np.diag(T + 1.0))
    state = matrix @ (x * T) + spsolve(matrix.tocsc(), np.sin(x * T)) + spsolve(x * np.eye(5), T + x)
    state = state + spsolve(x * np.eye(5) + 0.1, np.outer(T, state))[:, 1]
    listed = (x * state).tolist()
    inverse = np.divide(1.0, state, out=None, where=state > 1.0)
    return listed[2] * listed[3] + np.sum(np.where(state > 1.0, inverse, 0.0)) + np.sum(np.arange(1, 2.5 + x) * x)


def test_a_sparse_matrix_of_constants_may_be_complex():
    """Its second derivative was refused: the source of `diags` was looked into."""
    assert hvp(turned)(1.1, 1.0) == pytest.approx(2.0 * turned(1.0), rel=1e-12)


@pytest.mark.filterwarnings("ignore:spsolve requires")  # of an array
@pytest.mark.parametrize("program", [splines, samples, spectra, areas, polynomials, dense, implicitly, systems])
def test_derivatives(program):
    wanted = (program(1.1001) - program(1.0999)) / 2e-4
    assert grad(program)(1.1) == pytest.approx(wanted, rel=1e-5)


def area(x: Any) -> Any:
    return dblquad(lambda v, u: np.exp(-x * u * v), 0.0, x, 0.5, lambda u: 1.0 + u * x)[0]


def test_an_integral_in_two_variables_has_a_second_derivative():
    wanted = (grad(area)(1.1001) - grad(area)(1.0999)) / 2e-4
    assert hvp(area)(1.1, 1.0) == pytest.approx(wanted, rel=1e-5)
