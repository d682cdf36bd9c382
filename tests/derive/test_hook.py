"""Hooks: functions that see and replace adjoints on their way back."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from srcgrad import DifferentiationError, grad, hook, jvp, vjp

LOG: list[tuple[str, np.ndarray]] = []
X = np.array([-1.0, 0.1, 0.5, 2.0])


@pytest.fixture(autouse=True)
def empty_log():
    LOG.clear()


def clip(g):
    return np.clip(g, -1.0, 1.0)


def double(g):
    return 2.0 * g


def zero_first(g):
    g[0] = 0.0


def cubes(x):
    x = srcgrad.hook(x, clip)
    return np.sum(x**3)


def test_capability_1_9_a_hook_replaces_the_adjoint_of_an_argument():
    assert np.allclose(grad(cubes)(X), [1.0, 0.03, 0.75, 1.0], rtol=1e-15)


def test_the_forward_half_and_forward_mode_are_those_of_the_identity():
    assert jvp(cubes, (X,), (np.ones(4),)) == jvp(lambda x: np.sum(x**3), (X,), (np.ones(4),))
    assert cubes(X) == np.sum(X**3)


def test_a_hook_is_a_line_of_its_own():
    lines = [line.strip() for line in srcgrad.source(cubes).split("\n")]
    assert "x_bar = hooked(y_bar * 3 * x**2, clip)" in lines

    def twice(x):
        return np.sum(hook(hook(x * 2.0, clip) * 3.0, double))

    lines = [line.strip() for line in srcgrad.source(twice).split("\n")]
    assert sum("_bar = hooked(" in line and line.count("hooked(") == 1 for line in lines) == 2


def test_capability_1_9_an_interior_hook_alters_what_is_upstream():
    def f(x):
        h = np.sin(x)
        h = hook(h, clip)
        return np.sum(5.0 * h * h)

    assert np.allclose(grad(f)(X), np.clip(10.0 * np.sin(X), -1.0, 1.0) * np.cos(X), rtol=1e-15)


def test_capability_1_9_hooks_are_called_in_order_and_none_keeps_the_adjoint():
    def f(x):
        h = hook(
            x * 3.0,
            lambda g: LOG.append(("first", g)),
            double,
            lambda g: LOG.append(("second", g)),
        )
        return np.sum(h)

    assert grad(f)(X).tolist() == [6.0] * 4
    assert [(name, g.tolist()) for name, g in LOG] == [("first", [1.0] * 4), ("second", [2.0] * 4)]


def test_hooks_are_called_from_the_output_to_the_input():
    def f(x):
        a = hook(x, lambda g: LOG.append(("a", g)))
        b = hook(a * 2.0, lambda g: LOG.append(("b", g)))
        c = hook(x, lambda g: LOG.append(("c", g)))
        return np.sum(b) + np.sum(c)

    grad(f)(X)
    assert [name for name, _ in LOG] == ["c", "b", "a"]


def test_a_hook_sees_the_sum_of_all_contributions():
    def f(x):
        h = hook(np.copy(x), lambda g: LOG.append(("h", g)))
        return np.sum(h * h) + 3.0 * np.sum(h) + h[0]

    found = grad(f)(X)
    assert np.allclose(LOG[0][1], 2.0 * X + 3.0 + np.array([1.0, 0.0, 0.0, 0.0]), rtol=1e-15)
    assert len(LOG) == 1
    assert np.array_equal(found, LOG[0][1])


def test_what_a_hook_changes_in_place_flows_upstream_and_nowhere_else():
    def f(x):
        h = hook(2.0 * x, zero_first)
        return np.sum(h + x)

    assert grad(f)(X).tolist() == [1.0, 3.0, 3.0, 3.0]
    seed = np.ones(4)
    _, pullback = vjp(lambda x: hook(x, zero_first), X)
    assert [found.tolist() for found in pullback(seed)] == [[0.0, 1.0, 1.0, 1.0]]
    assert seed.tolist() == [1.0] * 4


def test_a_hook_may_keep_what_it_is_given():
    kept = []

    def f(x, fn):
        h = hook(x, fn)
        return np.sum(h * x)

    found = grad(f)(X, kept.append)
    assert np.array_equal(kept[0], X)
    assert np.array_equal(found, 2.0 * X)
    assert not np.shares_memory(found, kept[0])


def test_what_one_hook_keeps_another_does_not_change():
    kept = []

    def f(x, fn):
        return np.sum(hook(x, fn, zero_first) * 2.0)

    assert grad(f)(X, kept.append).tolist() == [0.0, 2.0, 2.0, 2.0]
    assert kept[0].tolist() == [2.0] * 4


def test_a_hook_in_a_loop_is_called_each_trip_with_the_variables_of_that_trip():
    def f(x, k):
        for _ in range(2):
            k = k * 2.0
            x = hook(np.sin(x), lambda g: g * k)  # noqa: B023  (that is what is tested)
            k = k + 1.0
        return np.sum(x)

    assert np.allclose(grad(f)(X, 2.0), 4.0 * 10.0 * np.cos(X) * np.cos(np.sin(X)), rtol=1e-14)


def test_a_name_of_the_function_and_the_parameter_of_a_hook_stay_apart():
    def f(x):
        g = x * 2.0
        h = hook(g, lambda g: g * 10.0)
        return np.sum(h * g)

    assert np.allclose(grad(f)(X), 2.0 * (10.0 * 2.0 * X + 2.0 * X), rtol=1e-14)


def test_a_nested_function_of_one_expression_and_a_method_are_hooks():
    def f(x):
        def log(g):
            LOG.append(("log", g))

        def half(g):
            return g / 2.0

        return np.sum(hook(hook(x, half), log) ** 2)

    assert np.allclose(grad(f)(X), X, rtol=1e-15)
    assert np.array_equal(LOG[0][1], 2.0 * X)


def test_a_hook_in_a_called_function_is_called_for_each_call():
    assert np.allclose(grad(_twice)(X), np.minimum(2.0 * X, 0.5) + 2.0 * np.minimum(4.0 * X, 0.5), rtol=1e-14)


def _square(z):
    z = hook(z, lambda g: np.minimum(g, 0.5))
    return np.sum(z * z)


def _twice(x):
    return _square(x) + _square(2.0 * x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_adjoint_keeps_its_dtype(dtype):
    def f(x):
        return np.sum(hook(x * x, lambda g: g.astype(np.float64) * 0.5))

    found = grad(f)(X.astype(dtype))
    assert found.dtype == dtype
    assert np.allclose(found, X, rtol=1e-6)  # half a rounding of float32


@pytest.mark.parametrize("x", [2.0, np.float32(2.0), np.array(2.0), np.zeros((0, 3)), np.ones((1, 3))])
def test_numbers_and_arrays_of_any_shape_have_hooks(x):
    def f(x):
        return np.sum(hook(x, double) * 3.0)

    found = grad(f)(x)
    assert np.shape(found) == np.shape(x)
    assert np.all(np.asarray(found) == 6.0)


def test_hooks_are_called_between_kernels():
    pytest.importorskip("pyopencl")
    assert np.allclose(grad(cubes, target="opencl")(X), [1.0, 0.03, 0.75, 1.0], rtol=1e-14)


def test_refused_a_hook_of_another_shape():
    with pytest.raises(DifferentiationError, match=r"E5004 .*\(\) for one of shape \(4,\)"):
        grad(lambda x: np.sum(hook(x, np.sum) * 2.0))(X)


def test_refused_a_hook_whose_result_is_not_used():
    def f(x):
        hook(x, clip)
        return np.sum(x)

    with pytest.raises(DifferentiationError, match=r"E5005 .* the result of `hook` is not used"):
        grad(f)(X)


def test_refused_a_hook_of_several_statements_inside():
    def f(x):
        def first(g):
            g[0] = 0.0
            return g

        return np.sum(hook(x, first))

    with pytest.raises(DifferentiationError, match=r"E5005 .*more than one expression"):
        grad(f)(X)


def test_refused_a_hook_on_a_container():
    def f(x):
        pair = hook((x, 2.0 * x), clip)
        return np.sum(pair[0] * pair[1])

    with pytest.raises(DifferentiationError, match=r"E5017 .*on a value of class tuple"):
        grad(f)(X)


def _slope(x):
    return np.sum(_cubes_grad(x))


_cubes_grad = grad(cubes)


def test_refused_second_derivatives_through_a_lambda():
    def f(x):
        return np.sum(hook(x, lambda g: np.clip(g, -1.0, 1.0)) ** 2)

    for derivative in (lambda: srcgrad.hessian(f)(X), lambda: srcgrad.hvp(f)(X, X), lambda: jvp(grad(f), (X,), (X,))):
        with pytest.raises(DifferentiationError, match=r"E5001 .*a gradient that calls hooks"):
            derivative()


def test_refused_second_derivatives_through_a_hook():
    for derivative in (lambda: grad(_slope)(X), lambda: jvp(_cubes_grad, (X,), (X,))):
        with pytest.raises(DifferentiationError, match=r"E5001 .*a gradient that calls hooks"):
            derivative()
