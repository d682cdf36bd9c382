"""What is computed once, and read where it would be computed again."""

import numpy as np
import pytest
from scipy import stats

import srcgrad

V = np.array([0.3, -0.8, 0.5])


def energies(v, x, k, m):
    """Two terms with one factor."""
    return 0.5 * np.sum(m * v**2) + 0.5 * np.sum(k * x**2)


def weighed(q, p, a):
    """A difference that the function computes twice, behind a loop that changes what it is of."""
    for _ in range(3):
        q = q + 0.1 * a @ np.sin(q - p)
    return 0.5 * (q - p) @ a @ (q - p)


def leaps(q, p, k, n):
    """Names that a loop binds anew mean another value after each binding: `k * q` is computed three times."""
    for _ in range(n):
        p = p - k * q * np.sin(k * q)
        q = q + 0.1 * np.tanh(k * p) * p
        p = p - k * q * np.sin(k * q)
    return np.sum(q * p) + np.sum(k * q)


def test_factors_of_two_terms_are_computed_once() -> None:
    text = srcgrad.source(energies, wrt=("v", "x", "k", "m"))
    assert text.count("y_bar * 0.5") == 1
    srcgrad.check_grads(energies, (V, V + 0.2, 1.5, 0.4), wrt=(0, 1, 2, 3), order=2, modes=("reverse", "forward"))


def test_a_difference_behind_a_loop_is_computed_once() -> None:
    text = srcgrad.source(weighed, wrt=("q", "p", "a"))
    assert text.count(" = q - p\n") == 1
    arguments = (V, V + 0.2, np.diag(V) + 0.1)
    srcgrad.check_grads(weighed, arguments, wrt=(0, 1, 2), order=2, modes=("reverse", "forward"))


def test_names_that_are_bound_anew_are_other_values() -> None:
    srcgrad.check_grads(leaps, (V, V + 0.2, 1.5, 3), wrt=(0, 1, 2), order=2, modes=("reverse", "forward"))


def replaced(s, x, n):
    """An argument that a branch or a loop may bind anew, to a name that is there anyway."""
    t = np.sin(x) * s
    if n > 0:
        s = t
    return (s + 0.5) * s


def replaced_by_a_pair(s, x, n):
    t = np.sin(x) * s
    if n > 0:
        s, _ = t, x
    return s + 0.5 + 0.5


def passive(x):
    return 3.7


def replaced_by_a_call(s, x, n):
    for _j in range(n):
        s, _ = passive(x), s
    b = 0.5
    return s + b + b


def test_the_tangent_of_an_argument_that_may_be_bound_anew_is_not_that_of_its_new_value() -> None:
    """`s_dot` was taken for the tangent of the new value where the branch was not taken: a wrong number, or unbound."""
    for function in (replaced, replaced_by_a_pair, replaced_by_a_call):
        for n in (0, 2):
            srcgrad.check_grads(function, (0.45, 0.53, n), wrt=(0, 1), order=2, modes=("reverse", "forward"))


@pytest.mark.parametrize("of", [stats.laplace, stats.norm, stats.logistic, stats.cauchy], ids=lambda one: one.name)
def test_methods_of_one_object_are_two_functions(of):
    """`of.cdf` and `of.pdf` are new objects each time they are read, which may have one identity in turn."""
    x, y, z = np.array([0.5, 1.0, 1.5]), np.array([0.6, 0.9, 1.7]), np.array([2.5, 3.0, 3.5])

    def f(x, y, z):
        return of.cdf(x, y, z)

    found, *_ = srcgrad.jacobian(f, ("x", "y", "z"), mode="reverse")(x, y, z)
    np.testing.assert_allclose(found, np.diag(of.pdf(x, y, z)), rtol=1e-13)
