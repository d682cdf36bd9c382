"""Derivatives of integrals and of roots, with functions that read what is around them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq, fsolve, newton, root, root_scalar

from srcgrad import grad, hessian, hvp, jvp
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.check.check import check_grads


def both_ends(k: Any, b: Any) -> Any:
    return quad(lambda x: np.sin(k * x), k, b)[0] ** 2


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


PROGRAMS = [
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


def some_are_constant(p: Any, k: Any) -> Any:
    def change(x, a, n, b):
        return x**n * a[0] + b * x - a[1]

    return brentq(change, 0.0, 9.0, args=(p, 3, 2.0)) * quad(change, 0.1 * k, k, args=(p, 2, k), epsabs=1e-11)[0]


def in_a_loop_and_a_branch(k: Any) -> Any:
    total = 0.0
    for i in range(3):
        if i != 1:
            total = total * k + quad(lambda x: np.exp(-k * x) * i, 0.0, 1.0)[0]  # noqa: B023 (called at once)
    return total


SECOND = [
    *[pair for pair in PROGRAMS if pair[0] not in (inner_integral, infinite_ends)],
    (some_are_constant, (np.array([1.3, 4.0]), 0.9)),
    (in_a_loop_and_a_branch, (0.7,)),
]


@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_programs_agree_with_differences_in_both_modes(f, args):
    check_grads(f, args, order=1, wrt=tuple(range(len(args))))


def test_closed_forms():
    assert grad(lambda k: brentq(lambda x: x**3 - k, 0.0, 9.0))(8.0) == pytest.approx(1.0 / 12.0, rel=1e-10)
    assert grad(infinite_ends)({"a": 1.5, "k": 0.7})["a"] == pytest.approx(np.sqrt(np.pi / 0.7), rel=1e-10)


def moved_jump(k: Any) -> Any:
    return quad(lambda x: x if x > k else 0.0, 0.0, 1.0)[0]


def no_root(k: Any) -> Any:
    return fsolve(lambda x: x * x + k, 1.0)[0]


def double_root(k: Any) -> Any:
    return newton(lambda x: k * (x - 1.0) ** 2, 1.0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", [moved_jump, no_root, double_root])
def test_what_has_no_derivative_is_refused_when_it_is_met(f):
    with pytest.raises(ArithmeticError, match="E5001"):
        grad(f)(0.7)
    with pytest.raises(ArithmeticError, match="E5001"):
        jvp(f, (0.7,), (1.0,))


def weighted(k: Any) -> Any:
    return quad(lambda x: k * x, 0.0, 1.0, weight="cos", wvar=2.0)[0]


def reported(k: Any) -> Any:
    return brentq(lambda x: x - k, 0.0, 1.0, full_output=True)[0]


def with_a_slope(k: Any) -> Any:
    return newton(lambda x: x * x - k, 1.0, fprime=lambda x: 2.0 * x)


def more_is_read(k: Any) -> Any:
    return root(lambda x: x - k, [1.0]).fun[0]


@pytest.mark.parametrize(
    ("f", "code"), [(weighted, "E5006"), (reported, "E5006"), (with_a_slope, "E5003"), (more_is_read, "E5005")]
)
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
@pytest.mark.parametrize("f", [bent, moved_jump, no_root, double_root])
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
