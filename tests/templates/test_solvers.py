"""Derivatives of integrals and of roots, with functions that read what is around them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import dblquad, quad
from scipy.optimize import (
    Bounds,
    bisect,
    brentq,
    curve_fit,
    fixed_point,
    fsolve,
    least_squares,
    minimize,
    minimize_scalar,
    newton,
    ridder,
    root,
    root_scalar,
)

from srcgrad import grad, hessian, hvp, implicit, jvp
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.check.check import check_grads
from srcgrad.interface.dump import dump


def both_ends(s: Any, b: Any) -> Any:
    """Our own texts have an `s` as well: the second derivative read that."""
    return quad(lambda x: np.sin(s * x), s, b)[0] ** 2


def infinite_ends(p: Any) -> Any:
    y, _ = quad(lambda x: p["a"] * np.exp(-p["k"] * x * x), -np.inf, np.inf, epsabs=1e-12, epsrel=1e-12)
    return y


def inner_integral(k: Any) -> Any:
    return quad(lambda x: quad(lambda s: s * x * k, 0.0, x)[0], 1.0, 0.0)[0]


def of_numpy(b: Any) -> Any:
    return quad(np.sin, 0.0, b)[0]


def jump_at_a_number(k: Any) -> Any:
    return quad(lambda x: k * x if x > 0.25 else 0.0, 0.0, 1.0)[0]


def power(x: Any, n: Any, k: Any) -> Any:
    return x**n - k


def with_args(k: Any) -> Any:
    return brentq(power, 0.0, 5.0, (3, k)) + root_scalar(power, (2, k), bracket=(0.0, 5.0)).root


def by_newton(k: Any) -> Any:
    total = 0.0
    for i in range(1, 3):
        total = total + k * newton(lambda x: np.cos(x) - k * x * i, 1.0, tol=1e-13)  # noqa: B023 (called at once)
    return total


def several_unknowns(p: Any) -> Any:
    def both(v):
        return v[0] ** 2 + v[1] ** 2 - p[0], v[1] - p[1] * v[0]

    return np.sum(fsolve(both, [1.0, 1.0], xtol=1e-13) * np.array([1.0, 2.0]))


def a_system(a: Any, b: Any) -> Any:
    sol = root(lambda v, c: c @ v + v**3 - b, np.ones(2), (a,), tol=1e-13)
    assert sol.success
    return np.sum(sol.x**2)


TIMES = np.linspace(0.0, 2.0, 9)
NOISE = 0.05 * np.sin(7.0 * TIMES)


def well(p: Any, k: Any) -> Any:
    return np.sum((1.0 + TIMES[:2]) * (p - k) ** 2 + p**4)


def a_minimum(k: Any) -> Any:
    res = minimize(well, np.zeros(2), (k,), "BFGS", options={"gtol": 1e-8})
    return res.x[0] * res.x[1] + res.fun if res.success else 0.0


def a_minimum_between_bounds(k: Any) -> Any:
    def cost(p):
        return well(p, k) + k[0] * p[0]

    res = minimize(cost, x0=np.zeros(2), bounds=[(-5.0, 5.0), (None, 9.0)], tol=1e-14)
    return np.sum(res.x**3)


def a_minimum_from_a_number(p: Any) -> Any:
    """SciPy makes an array of the start, and takes the cost, an array of one element, for a number."""
    return minimize(lambda v: (v * v - p) ** 2 + 0.1 * v, x0=1.0, options={"gtol": 1e-11}).x[0]


def a_minimum_of_a_number(k: Any) -> Any:
    return minimize_scalar(lambda x, a: np.exp(x) - a * x, args=(k,), tol=1e-12).x ** 2


def a_fit(k: Any) -> Any:
    popt, _ = curve_fit(lambda t, a, b: a * np.exp(-b * t), TIMES, k[0] * np.exp(-k[1] * TIMES) + NOISE, xtol=1e-14)
    return popt[0] * popt[1]


def a_weighted_fit(k: Any) -> Any:
    def model(t, a, b):
        return a * t + b * np.sin(k * t)

    return curve_fit(model, TIMES, k * TIMES**2, (1.0, 1.0), 1.0 + TIMES, absolute_sigma=True)[0][1]


def far_from_its_data(k: Any) -> Any:
    """The part of the second derivatives of the model counts, since residuals are not zero."""
    res = least_squares(lambda p: np.exp(p[0] * TIMES) - k * TIMES**3 - 1.0, [0.5], xtol=1e-15, ftol=1e-15, gtol=1e-14)
    return res.x[0] + res.cost


def least_squares_with_args(a: Any, b: Any) -> Any:
    def rest(p, a, b):
        return p**3 + a @ p - b

    return np.sum(least_squares(rest, np.ones(2), bounds=(0.0, 9.0), args=(a, b), xtol=1e-15).x ** 2)


def a_fixed_point(k: Any) -> Any:
    return fixed_point(lambda x, a: np.cos(a * x), 0.5, args=(k,), xtol=1e-13) ** 2


def of_other_methods(k: Any) -> Any:
    return bisect(lambda x: x**3 - k, 0.0, 2.0, xtol=1e-13) + ridder(lambda x: x**3 + x - k, 0.0, 2.0, xtol=1e-13)


def balance(x: Any, a: Any, b: Any) -> Any:
    return a @ x + x**3 - b


solved = implicit(lambda a, b: fsolve(balance, np.ones(2), (a, b), xtol=1e-13), balance)


def of_a_solver_of_ones_own(a: Any, b: Any) -> Any:
    return np.sum(solved(a, 2.0 * b) ** 2) * b[0]


def cost_of(p: Any, c: Any) -> Any:
    return (p[0] - c) ** 2 + p[0] ** 4


def slope_of(p: Any, c: Any) -> Any:
    return 2.0 * (p - c) + 4.0 * p**3


def with_slope_and_curvature(k: Any) -> Any:
    return minimize(cost_of, [0.0], (k,), "trust-ncg", slope_of, lambda p, c: np.diag(2.0 + 12.0 * p**2)).x[0]


def with_slope_beside(k: Any) -> Any:
    return minimize(lambda p: (cost_of(p, k), slope_of(p, k)), [0.0], jac=True).x[0]


def with_no_slope_after_all(k: Any, jac: Any = None) -> Any:
    return minimize(cost_of, [0.0], (k,), jac=jac, options={"gtol": 1e-7}).x[0]


def with_slopes_of_errors(k: Any) -> Any:
    return least_squares(lambda p: p - k, [0.0], lambda p: np.eye(1)).x[0] / (1.0 + 6.0 * P * P)


P = minimize(cost_of, [0.0], (0.7,), jac=slope_of, tol=1e-12).x[0]


PROGRAMS = [
    (of_a_solver_of_ones_own, (np.array([[2.0, 0.5], [-0.3, 1.0]]), np.array([0.7, 1.1]))),
    (far_from_its_data, (0.7,)),
    (least_squares_with_args, (np.array([[2.0, 0.5], [-0.3, 1.0]]), np.array([3.0, 2.0]))),
    (a_fixed_point, (0.7,)),
    (of_other_methods, (0.7,)),
    (both_ends, (0.7, 1.2)),
    (infinite_ends, ({"a": 1.5, "k": 0.7},)),
    (inner_integral, (0.7,)),
    (of_numpy, (0.7,)),
    (jump_at_a_number, (0.7,)),
    (with_args, (0.7,)),
    (by_newton, (0.7,)),
    (several_unknowns, (np.array([2.0, 0.8]),)),
    (a_system, (np.array([[2.0, 0.5], [-0.3, 1.0]]), np.array([0.7, 1.1]))),
]


MINIMA = [
    (a_minimum, (np.array([0.7, 1.1]),)),
    (a_minimum_between_bounds, (np.array([0.7, 1.1]),)),
    (a_minimum_from_a_number, (2.0,)),
    (a_minimum_of_a_number, (0.7,)),
    (a_fit, (np.array([0.9, 0.6]),)),
    (a_weighted_fit, (0.7,)),
]


@pytest.mark.parametrize(("f", "args"), MINIMA, ids=[f.__name__ for f, _ in MINIMA])
def test_minima_agree_with_differences(f, args):
    """A search by the value ends where that no longer changes: 1e-8 from the minimum, 1e-5 in a difference."""
    check_grads(f, args, order=2, directions=1, tolerance=1e-4)


def some_are_constant(p: Any, k: Any) -> Any:
    def change(x, a, n, b):
        return x**n * a[0] + b * x - a[1]

    return brentq(change, 0.0, 9.0, args=(p, 3, 2.0)) * quad(change, 0.1 * k, k, args=(p, 2, k), epsabs=1e-11)[0]


def change_of_several(x, *rest):
    p, q = rest
    return x**3 + p * x - q


def several_parameters(k: Any, a: Any) -> Any:
    root = brentq(change_of_several, 0.0, 9.0, args=(0.5 * k, a))
    return root * quad(change_of_several, 0.0, a, args=(2.0, k))[0]


def in_a_loop_and_a_branch(k: Any) -> Any:
    total = 0.0
    for i in range(3):
        if i != 1:
            total = total * k + quad(lambda x: np.exp(-k * x) * i, 0.0, 1.0)[0]  # noqa: B023 (called at once)
    return total


def two_double_integrals(k: Any) -> Any:
    """Texts of both have functions of one name, and the integrand a default of its own."""

    def rising(v: Any, u: Any, *, k: float = 0.5) -> Any:
        return u * v * k + u

    return dblquad(lambda v, u: u * v * k, 0.0, 1.0, 0.0, 1.0)[0] * dblquad(rising, 0.0, k, 0.0, 1.0)[0]


SECOND = [
    *[pair for pair in PROGRAMS if pair[0] is not infinite_ends],
    (two_double_integrals, (0.7,)),
    (some_are_constant, (np.array([1.3, 4.0]), 0.9)),
    (several_parameters, (1.3, 0.9)),
    (in_a_loop_and_a_branch, (0.7,)),
]


@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_programs_agree_with_differences_in_both_modes(f, args):
    check_grads(f, args, order=1, wrt=tuple(range(len(args))))


@pytest.mark.parametrize("f", [a_minimum_of_a_number, with_slopes_of_errors])
def test_a_dumped_text_has_the_derivatives_that_solvers_ask_for(f: Any) -> None:
    made: dict[str, Any] = {}
    exec(dump(f"{__file__}:{f.__name__}").text, made)
    assert made[f"{f.__name__}_grad"](0.7) == grad(f)(0.7)


def test_closed_forms():
    assert grad(a_minimum_of_a_number)(0.7) == pytest.approx(2.0 * np.log(0.7) / 0.7, rel=1e-6)  # of log(k) ** 2
    assert grad(lambda k: brentq(lambda x: x**3 - k, 0.0, 9.0))(8.0) == pytest.approx(1.0 / 12.0, rel=1e-10)
    assert grad(infinite_ends)({"a": 1.5, "k": 0.7})["a"] == pytest.approx(np.sqrt(np.pi / 0.7), rel=1e-10)


def moved_jump(k: Any) -> Any:
    return quad(lambda x: x if x > k else 0.0, 0.0, 1.0)[0]


def no_root(k: Any) -> Any:
    return fsolve(lambda x: x * x + k, 1.0)[0]


def double_root(k: Any) -> Any:
    return newton(lambda x: k * (x - 1.0) ** 2, 1.0)


unsolved = implicit(lambda k: 1.0, lambda x, k: x * x - k)


def not_solved(k: Any) -> Any:
    return unsolved(k)


def not_converged(k: Any) -> Any:
    return minimize(lambda p: np.sum((p - k) ** 4 + (p - k) ** 2), [9.0], options={"maxiter": 1}).x[0]


def a_valley(k: Any) -> Any:
    return minimize(lambda p: (p[0] + p[1] - k) ** 2, np.zeros(2)).x[0]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", [moved_jump, no_root, double_root, not_converged, not_solved, a_valley])
def test_what_has_no_derivative_is_refused_when_it_is_met(f):
    with pytest.raises(ArithmeticError, match="E5001"):
        grad(f)(0.7)
    with pytest.raises(ArithmeticError, match="E5001"):
        jvp(f, (0.7,), (1.0,))


def held_by_a_bound(k: Any) -> Any:
    return minimize(lambda p: np.sum((p - k) ** 2), [0.2], bounds=Bounds(0.0, 0.5)).x[0]


def fit_held_by_a_bound(k: Any) -> Any:
    return curve_fit(lambda t, a: a * t, TIMES, k * TIMES, [0.2], bounds=(0.0, 0.5))[0][0]


def least_squares_held_by_a_bound(k: Any) -> Any:
    return least_squares(lambda p: p - k, [0.2], bounds=(0.0, 0.5)).x[0]


@pytest.mark.parametrize(
    "f", [with_slope_and_curvature, with_slope_beside, with_no_slope_after_all, with_slopes_of_errors]
)
def test_derivatives_that_a_search_is_given_are_for_the_search_alone(f: Any) -> None:
    assert np.isclose(jvp(f, (0.7,), (1.0,))[1], 1.0 / (1.0 + 6.0 * P * P), rtol=1e-4)


@pytest.mark.parametrize("f", [held_by_a_bound, fit_held_by_a_bound, least_squares_held_by_a_bound])
def test_what_a_bound_holds_back_is_refused(f):
    """Some methods end at a bound, others near it: there the gradient is not zero."""
    assert f(0.7) == pytest.approx(0.5, abs=1e-3)
    with pytest.raises(ArithmeticError, match=r"E5008|E5001"):
        grad(f)(0.7)
    with pytest.raises(ArithmeticError, match=r"E5008|E5001"):
        jvp(f, (0.7,), (1.0,))


def weighted(k: Any) -> Any:
    return quad(lambda x: k * x, 0.0, 1.0, weight="cos", wvar=2.0)[0]


def reported(k: Any) -> Any:
    return brentq(lambda x: x - k, 0.0, 1.0, full_output=True)[0]


def more_is_read(k: Any) -> Any:
    return root(lambda x: x - k, [1.0]).fun[0]


@pytest.mark.parametrize(("f", "code"), [(weighted, "E5006"), (reported, "E5006"), (more_is_read, "E5005")])
def test_what_is_refused(f, code):
    with pytest.raises(DifferentiationError) as caught:
        grad(f)(0.7)
    assert caught.value.code == code


@pytest.mark.parametrize(("f", "args"), SECOND, ids=[f.__name__ for f, _ in SECOND])
def test_second_derivatives_agree_with_differences_in_all_nestings(f, args):
    check_grads(f, args, order=2, wrt=tuple(range(len(args))), directions=1)


def bent(k: Any) -> Any:
    return quad(lambda x: np.abs(x - k), 0.0, 1.0)[0]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", [bent, moved_jump, no_root, double_root, not_converged])
def test_what_has_no_second_derivative_is_refused_when_it_is_met(f):
    """The first derivative goes through a kink, whose place moves: the second one jumps there."""
    with pytest.raises(ArithmeticError, match="E5001"):
        hessian(f)(0.7)
    with pytest.raises(ArithmeticError, match="E5001"):
        grad(grad(f))(0.7)


@pytest.mark.parametrize("f", [of_numpy, by_newton])
def test_a_hessian_and_its_product_agree(f):
    assert hessian(f)(0.7) == pytest.approx(hvp(f)(0.7, 1.0), rel=1e-12)
    assert hessian(f)(0.7) == pytest.approx(grad(grad(f))(0.7), rel=1e-12)


def test_an_integral_of_what_a_container_holds_has_no_second_derivative():
    with pytest.raises(DifferentiationError, match=r"E5001 .*by a dict is not known"):
        grad(lambda p: grad(infinite_ends)(p)["k"])({"a": 1.5, "k": 0.7})


def given_by_name(k: Any) -> Any:
    args = (2.0,)
    return k * brentq(lambda x, c: x * c - k, 0.0, 9.0, args)


def test_arguments_that_are_not_written_out_are_refused():
    with pytest.raises(DifferentiationError) as caught:
        hessian(given_by_name)(0.7)
    assert caught.value.code in ("E5001", "E5005")


def test_the_estimate_of_an_error_is_constant():
    assert grad(lambda k: quad(lambda x: k * x, 0.0, 1.0)[1])(0.7) == 0.0


def test_the_covariance_of_a_fit_is_no_constant() -> None:
    def spread(k):
        popt, pcov = curve_fit(lambda t, a, b: a + b * t, TIMES, k * TIMES + NOISE * k**2)
        return popt[0] + np.sqrt(pcov[0, 0])

    with pytest.raises(ArithmeticError, match="E5001"):
        grad(spread)(1.5)
    assert np.isnan(jvp(spread, (1.5,), (1.0,))[1])


def cube(u: Any, k: Any) -> Any:
    return u**3 - k


def slope_of_cube(u: Any, k: Any) -> Any:
    return 3.0 * u**2


def with_slope(x: Any) -> Any:
    return newton(lambda u: u**3 - x, 1.0, fprime=lambda u: 3.0 * u**2)


def with_a_rough_slope(x: Any) -> Any:
    c = np.sin(x)
    return newton(lambda u: u**3 - x, 1.0, lambda u: 3.0 * u**2 * (1.0 + 0.01 * c), fprime2=None)


def by_names(x: Any) -> Any:
    return newton(cube, 1.0, slope_of_cube, (x,), fprime2=lambda u, k: 6.0 * u)


def by_functions_of_numpy(x: Any) -> Any:
    return newton(lambda u: np.sin(u) - 0.3 * x, 0.1, fprime=np.cos)


def fsolve_with_slopes(x: Any) -> Any:
    return fsolve(lambda u: u**3 - x, np.ones(2), fprime=lambda u: np.diag(3.0 * u**2))[0]


def root_with_slopes(x: Any) -> Any:
    return root(lambda u: u**3 - x, np.ones(2), jac=lambda u: np.diag(3.0 * u**2)).x[0]


WITH_SLOPES = [
    with_slope,
    with_a_rough_slope,
    by_names,
    by_functions_of_numpy,
    fsolve_with_slopes,
    root_with_slopes,
]


@pytest.mark.parametrize("function", WITH_SLOPES)
def test_a_derivative_that_is_given_reaches_the_solver(function: Any) -> None:
    check_grads(function, (1.1,), order=2)


def test_the_function_beside_takes_what_the_other_reads() -> None:
    derivative = grad(with_a_rough_slope)
    derivative(1.1)
    assert "def inner(u, x, c):" in derivative.source
    assert "def inner_(u, x, c):" in derivative.source


def by_one_of_several(x: Any) -> Any:
    slope = slope_of_cube
    if x > 1.0:
        slope = cube
    return newton(cube, 1.0, slope, (x,))


def by_both_at_once(x: Any) -> Any:
    return root(lambda u: (u**3 - x, np.diag(3.0 * u**2)), np.ones(2), jac=True).x[0]


@pytest.mark.parametrize("function, code", [(by_one_of_several, "E5031"), (by_both_at_once, "E5006")])
def test_derivatives_that_are_not_known_are_refused(function: Any, code: str) -> None:
    with pytest.raises(DifferentiationError, match=code):
        grad(function)(1.1)
