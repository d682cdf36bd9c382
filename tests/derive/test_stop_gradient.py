"""`stop_gradient`: the value as it is, and nothing flows through it, in any mode or order."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from srcgrad import check_grads, explain, grad, jvp, stop_gradient, vjp
from srcgrad.core.rules import d

X = np.array([1.0, -2.0, 3.0])


def centred(x):
    return np.sum((x - stop_gradient(np.mean(x))) ** 2)


def held(x):
    k = stop_gradient(x * x)
    return np.sum(k * x)


def test_capability_3_23_the_value_is_the_argument_itself():
    assert stop_gradient(X) is X
    assert srcgrad.value_and_grad(held)(X)[0] == held(X) == np.sum(X**3)


@pytest.mark.parametrize("target", ["numpy", "opencl"])
def test_capability_3_23_nothing_flows_through_it(target):
    if target == "opencl":
        pytest.importorskip("pyopencl")
    assert np.allclose(grad(held, target=target)(X), X * X, rtol=1e-14)
    assert np.allclose(grad(centred, target=target)(X), 2.0 * (X - np.mean(X)), rtol=1e-14)
    assert grad(lambda x: np.sum(stop_gradient(x)), target=target)(X).tolist() == [0.0] * 3


def test_capability_3_23_no_line_is_about_it():
    text = srcgrad.source(held)
    assert "k_bar" not in text
    backward = text.partition("# line")[2]
    assert "stop_gradient" not in backward
    assert [line.active for line in explain(held).lines] == [False, True]


def test_capability_3_23_in_forward_mode_and_second_order():
    """What is held is a constant of the first derivative, k = x * x; its own derivative counts in the second."""
    assert jvp(held, (X,), (np.ones(3),))[1] == np.sum(X * X)
    _, found = jvp(grad(held), (X,), (np.ones(3),))
    assert found.tolist() == [0.0] * 3
    assert srcgrad.hessian(held)(X).tolist() == np.zeros((3, 3)).tolist()
    _, found = jvp(grad(centred), (X,), (np.ones(3),))
    assert found.tolist() == [2.0] * 3


def test_a_part_is_held_and_a_part_is_not():
    def f(x, y):
        h = x * y
        return np.sum(h * stop_gradient(h) + y)

    x_bar, y_bar = grad(f, (0, 1))(X, X + 1.0)
    h = X * (X + 1.0)
    assert np.allclose(x_bar, h * (X + 1.0), rtol=1e-14)
    assert np.allclose(y_bar, h * X + 1.0, rtol=1e-14)


def test_in_a_loop_and_of_what_is_written_into():
    def f(x, n):
        a = np.zeros(3)
        s = 0.0
        for k in range(n):
            a[k] = x[k] * x[k]
            s = s + np.sum(stop_gradient(a) * x)
        return s

    expected = sum(np.where(np.arange(3) <= k, X * X, 0.0) for k in range(3))
    assert np.allclose(grad(f)(X, 3), expected, rtol=1e-14)


def test_refused_what_shows_elements_that_change():
    """It is the array itself: what is written into that shows in what is held."""

    def f(x):
        a = np.ones(3)
        b = stop_gradient(a)
        s = np.sum(b * x)
        a[0] = x[1]
        return s + np.sum(b * x)

    with pytest.raises(srcgrad.DifferentiationError, match=r"E5010 .*`b` may show the elements of `a`"):
        grad(f)(X)


def test_through_a_callee_a_container_and_a_nested_function():
    def f(x):
        inner = stop_gradient(_square(x))
        pair = (stop_gradient(x), x)
        hold = lambda t: stop_gradient(t) * t  # noqa: E731
        return np.sum(inner * x) + np.sum(pair[0] * pair[1]) + np.sum(hold(x))

    assert np.allclose(grad(f)(X), X * X + X + X, rtol=1e-14)


def _square(z):
    return z * z


def test_differences_agree_where_what_is_held_is_an_argument():
    check_grads(lambda x, k: np.sum(x * stop_gradient(k)), (X, X + 1.0), order=2, wrt=0)


def test_capability_1_4_a_zero_seed_gives_zeros():
    """A seed is looked at for being there, not for being true."""
    _, pullback = vjp(lambda x: np.sum(x * x), X)
    assert pullback(0.0)[0].tolist() == [0.0] * 3
    assert pullback(1.0)[0].tolist() == (2.0 * X).tolist()
    assert pullback(2.0)[0].tolist() == (4.0 * X).tolist()
    _, pullback = vjp(lambda x: x * x, X)
    assert pullback(np.zeros(3))[0].tolist() == [0.0] * 3


def polynomial(x):
    raise AssertionError("its rule is used, its source is not")


@srcgrad.adjoint.elementwise(polynomial)
def _(y, x):
    d[x] = d[y] * (2.0 * x + 2.0)


def test_capability_1_29_a_rule_of_the_user_and_a_hook():
    """x**2 + 2 x + 1 has 2 x + 2; clipped on its way it is at most 1."""
    values = X**2 + 2.0 * X + 1.0

    def f(x, polynomial_):
        return np.sum(srcgrad.hook(x, lambda g: np.clip(g, -1.0, 1.0)) * polynomial_)

    assert np.allclose(grad(f)(X, values), np.clip(values, -1.0, 1.0), rtol=1e-14)
