"""Densities of scipy.stats: what peers get wrong, edges of the support, keywords, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import digamma
from scipy.stats import chi2, norm

from srcgrad import check_grads, grad, jvp, source
from srcgrad.core.errors import DifferentiationError

STANDARD = norm(0.0, 1.0)


def freedom(x: Any, df: Any) -> Any:
    return chi2.logpdf(x, df)


def test_chi2_with_a_fraction_of_a_degree_of_freedom():
    x_bar, df_bar = grad(freedom, wrt=("x", "df"))(1.3, 2.5)
    assert x_bar == pytest.approx((2.5 / 2.0 - 1.0) / 1.3 - 0.5, rel=1e-14)
    assert df_bar == pytest.approx(0.5 * (np.log(1.3 / 2.0) - digamma(1.25)), rel=1e-14)


def likelihood(shape: Any, rate: Any, seen: Any) -> Any:
    return np.sum(stats.gamma.logpdf(seen, a=shape, scale=1.0 / rate))


def test_shapes_may_be_given_by_name():
    seen = np.array([0.5, 1.0, 2.5])
    shape_bar, rate_bar = grad(likelihood, wrt=("shape", "rate"))(2.0, 3.0, seen)
    assert shape_bar == pytest.approx(np.sum(np.log(3.0 * seen) - digamma(2.0)), rel=1e-13)
    assert rate_bar == pytest.approx(np.sum(2.0 / 3.0 - seen), rel=1e-13)


def outside(x: Any) -> Any:
    return np.sum(stats.lognorm.pdf(x, 0.7) + stats.beta.pdf(x, 2.5, 1.5) + stats.pareto.pdf(x, 1.5))


def test_the_gradient_is_zero_outside_of_the_support():
    with np.errstate(all="raise"):
        assert grad(outside)(np.array([-1.0, -0.5])).tolist() == [0.0, 0.0]
        assert grad(lambda x: np.exp(stats.invgamma.logpdf(x, 1.5)))(-2.0) == 0.0


def test_defaults_leave_no_trace_in_the_text():
    text = source(lambda x: norm.pdf(x))
    assert "x_bar = -y_bar * y * x\n" in text


def test_a_name_of_the_user_that_is_that_of_a_distribution():
    def f(norm, stats_):
        return stats.norm.cdf(norm, stats_)

    assert grad(f, wrt=("norm", "stats_"))(0.5, 0.2) == (norm.pdf(0.3), -norm.pdf(0.3))


def frozen_here(x: Any, m: Any) -> Any:
    law = norm(m, scale=m * m)
    if m > 0.1:
        law = stats.norm(m, 1.0)
    return law.logpdf(x)


def moment_of_a_frozen(x: Any, m: Any) -> Any:
    return stats.gamma(m).mean() * x


def frozen(x: Any, m: Any) -> Any:
    law = stats.gamma(m, scale=2.0 * m)
    return law.logpdf(x) * STANDARD.cdf(x) + stats.multivariate_normal(mean=[m, x], cov=np.eye(2)).logpdf([0.3, 0.1])


def test_frozen_distributions():
    check_grads(frozen, (0.5, 0.25), order=2)


def shape_of_a_gamma(a: Any) -> Any:
    return stats.gamma.cdf(1.5, 2.0 * a)


def count(k: Any) -> Any:
    return stats.poisson.pmf(k, 2.0)


@pytest.mark.parametrize(
    ("f", "reason"),
    [
        (frozen_here, r"with all arguments, as scipy\.stats\.norm\.logpdf"),
        (moment_of_a_frozen, "it makes a frozen distribution"),
        (shape_of_a_gamma, "no closed form"),
        (count, "whole number"),
    ],
)
def test_what_is_refused_says_why(f, reason):
    values = (0.5, 0.25)[: f.__code__.co_argcount]
    for derivative in (grad(f, wrt=tuple(range(len(values)))), lambda *given: jvp(f, given, given)):
        with pytest.raises(DifferentiationError, match=reason) as caught:
            derivative(*values)
        assert caught.value.code in ("E5001", "E5003")


MEAN, COV = np.array([0.2, -0.4, 0.9]), 2.0 * np.eye(3) + 0.3


@pytest.mark.parametrize("x", [0.3, np.array([0.3]), np.array([[0.3], [0.4]]), np.ones((2, 4, 3))])
def test_points_are_broadcast_to_the_mean(x):
    check_grads(lambda x, mean, cov: stats.multivariate_normal.logpdf(x, mean, cov), (x, MEAN, COV), order=1)


@pytest.mark.parametrize("derive", [lambda f, a: grad(f)(a), lambda f, a: jvp(f, (a,), (a,))])
def test_a_covariance_given_by_its_diagonal_is_refused(derive):
    with pytest.raises(DifferentiationError, match="E5006"):
        derive(lambda cov: stats.multivariate_normal.logpdf(MEAN, np.zeros(3), cov), np.array([1.5, 2.0, 3.0]))
