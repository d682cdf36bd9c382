"""What is called may have been computed from the inputs: an object that interpolates, a function of a function."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import scipy.interpolate

import srcgrad

X = np.array([0.7, -0.4, 1.1, 0.3, 2.0])
T = np.arange(5.0)


class Line:
    def __init__(self, rise):
        self.rise = rise

    def __call__(self, t):
        return np.sum(self.rise) * t


def line(rise):
    def value(t):
        return t * rise

    return value


def product(a, b):
    return a * b


def named_spline(x):
    s = scipy.interpolate.CubicSpline(T, x)
    return s(1.3)


def spline(x):
    return scipy.interpolate.CubicSpline(T, x)(1.3)


def polynomial(x):
    return np.poly1d(x)(1.3)


def series(x):
    p = np.polynomial.Polynomial(x)
    return p(1.3)


def object_of_a_class(x):
    return Line(x)(1.3)


def made_function(x):
    return line(x[0])(1.3)


def named_function(x):
    g = line(x[0])
    return g(1.3) * x[1]


def by_text(x):
    return eval("x[0] * 2.0")


def by_name_in_a_dict(x):
    return locals()["x"][0] * 2.0


def area(x):
    return scipy.interpolate.CubicSpline(T, x).integrate(0.3, 1.2)


def area_as_a_number(x):
    return scipy.interpolate.InterpolatedUnivariateSpline(T, x).integral(0.3, 2.2)


def akima(x):
    return scipy.interpolate.Akima1DInterpolator(T, x)(1.3)


def named_akima(x):
    s = scipy.interpolate.Akima1DInterpolator(T, x)
    return s(1.3)


def hermite(x):
    return np.polynomial.Hermite(x)(1.3)


def radial(x):
    return scipy.interpolate.RBFInterpolator(T[:, None], x)(np.array([[1.3]]))[0]


def named_radial(x):
    s = scipy.interpolate.RBFInterpolator(T[:, None], x)
    return s(np.array([[1.3]]))[0]


REFUSED = [hermite, radial, named_radial, by_text]


@pytest.mark.parametrize("function", REFUSED)
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_what_is_computed_and_called_is_refused(function, mode):
    with pytest.raises(srcgrad.DifferentiationError, match=r"E500[135]|E5031 .* depends on what is differentiated"):
        srcgrad.grad(function)(X) if mode == "reverse" else srcgrad.jvp(function, (X,), (X,))


def bound_first(x):
    return functools.partial(product, x)(1.3)


def written_out(x):
    return (lambda t: t * np.sum(x))(1.3)


def calls_what_does_not_depend(x):
    return np.poly1d([1.0, 2.0])(3.0) * x[0]


FOLLOWED = [
    by_name_in_a_dict,
    spline,
    named_spline,
    area,
    area_as_a_number,
    bound_first,
    written_out,
    calls_what_does_not_depend,
    made_function,
    object_of_a_class,
    named_function,
]


@pytest.mark.parametrize("function", FOLLOWED)
def test_what_is_known_is_followed(function):
    srcgrad.check_grads(function, (X,), order=1 if function in (named_spline, area_as_a_number) else 2)


@pytest.mark.parametrize("function", [akima, named_akima, polynomial, series])
def test_so_is_what_a_rule_writes_out(function):
    """Their values by differences; the derivatives of these rules by `test_rules`."""
    wanted = np.array([(function(X + step) - function(X - step)) / 2e-5 for step in 1e-5 * np.eye(5)])
    np.testing.assert_allclose(srcgrad.grad(function)(X), wanted, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(srcgrad.jvp(function, (X,), (T,))[1], wanted @ T, rtol=1e-8)


def test_the_message_asks_for_no_rule_of_what_has_no_name():
    with pytest.raises(srcgrad.DifferentiationError, match="call it in a function of your own, and write a rule"):
        srcgrad.grad(radial)(X)
