"""Gradients with respect to local variables."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from srcgrad import DifferentiationError, grad, value_and_grad, vjp
from srcgrad.interface.dump import dump

X = np.array([-1.0, 0.1, 0.5, 2.0])
W = np.array([0.3, -0.2, 0.5, 1.1])


def sine(z):
    return np.sin(z)


def mixed(x, w, d=0.0):
    h = np.tanh(x * w) + d
    return np.sum(h * h * x) + h[1] * w[0]


def through_a_call(x, w, d=0.0):
    h = sine(x) + d
    return np.sum(sine(h) * w)


def read_in_a_loop(x, w, d=0.0):
    h = x * w + d
    k = x + 1.0
    for _ in range(3):
        k = k * h
    return np.sum(k)


def unpacked(x, w, d=0.0):
    a, b = np.split(x * w, 2)
    h = b + d
    return np.sum(h * h * a)


def second_name(x, w, d=0.0):
    h = x + d
    return np.sum(h * x * w)


def in_a_lambda(x, w, d=0.0):
    h = x * 2.0 + d
    f = lambda t: t * h  # noqa: E731
    return np.sum(f(x) * f(w))


def quiet(x, w, d=0.0):
    with np.errstate(all="ignore"):
        h = x * w + d
        y = np.sum(h / x)
    return y * h[0]


def returned(x, w, d=0.0):
    h = np.sum(x * w) + d
    return h  # noqa: RET504  (that it has a name is what is tested)


PROGRAMS = (mixed, through_a_call, read_in_a_loop, unpacked, second_name, in_a_lambda, quiet, returned)


@pytest.mark.parametrize("f", PROGRAMS)
def test_capability_1_32_equals_differences_of_perturbed_bindings(f):
    """`d` is added to h where it is bound, and to nothing else."""
    found = grad(f, wrt="h")(X, W)
    for place in np.ndindex(np.shape(found)):
        d = np.zeros(np.shape(found))
        d[place] = 1e-6
        slope = (f(X, W, d) - f(X, W, -d)) / 2e-6
        assert np.isclose(found[place] if np.shape(found) else found, slope, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("target", ["numpy", "opencl"])
def test_beside_parameters_and_in_every_mode(f, target):
    if target == "opencl":
        pytest.importorskip("pyopencl")
    x_bar, w_bar = grad(f, wrt=(0, 1))(X, W)
    h_bar = grad(f, wrt="h")(X, W)
    both = grad(f, wrt=("w", "h", "x"), target=target)(X, W)
    value, once = value_and_grad(f, wrt=("w", "h", "x"), target=target)(X, W)
    _, pullback = vjp(f, X, W, wrt=("w", "h", "x"), target=target)
    assert np.isclose(value, f(X, W), rtol=1e-14)
    for found in (both, once, pullback(1.0), pullback(1.0)):
        for expected, actual in zip((w_bar, h_bar, x_bar), found, strict=True):
            assert np.allclose(actual, expected, rtol=1e-13, atol=1e-14)  # kernels group sums otherwise
    assert not any(np.shares_memory(one, other) for one in both for other in both if one is not other)


def test_a_name_that_does_not_reach_the_result_has_gradient_zero():
    def f(x):
        h = x * 2.0
        k = h + 1.0  # noqa: F841
        return np.sum(x)

    assert grad(f, wrt="h")(X).tolist() == [0.0] * 4


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_gradient_has_the_dtype_of_the_variable(dtype):
    def f(x):
        h = np.exp(x)
        return np.sum(h * np.ones(4) * h[0])

    found = grad(f, wrt="h")(X.astype(dtype))
    assert (found.dtype, found.shape) == (dtype, (4,))


def test_second_derivatives_of_it():
    slope = grad(mixed, wrt="h")
    _, found = srcgrad.jvp(slope, (X, W), (np.ones(4), np.zeros(4)))
    expected = (slope(X + 1e-6, W) - slope(X - 1e-6, W)) / 2e-6
    assert np.allclose(found, expected, rtol=1e-7, atol=1e-8)


def test_the_text_has_no_line_for_what_is_upstream():
    text = srcgrad.source(mixed, wrt="h")
    assert "h_bar" in text
    assert "x_bar" not in text


def test_the_command_line_takes_local_names():
    made = dump("-", text="import numpy as np\ndef f(x):\n    h = x * x\n    return np.sum(h * h)\n", wrt=("h",))
    assert "with respect to h" in made.text
    assert "return h_bar" in made.text


def in_a_loop(x):
    for _ in range(2):
        h = x * x
    return np.sum(h)


def twice(x):
    h = x * x
    h = h + x
    return np.sum(h)


def added_to(x):
    h = x * x
    h += x
    return np.sum(h)


def in_a_branch(x):
    if x[0] > 0.0:
        h = x * x
    else:
        return x[1]
    return np.sum(h)


def after_a_return(x):
    if x[0] > 0.0:
        return np.sum(x)
    h = x * x
    return np.sum(h)


def written_into(x):
    h = x * x
    h[0] = 1.0
    return np.sum(h)


def written_through_a_view(x):
    h = x * x
    v = h[1:]
    v[0] = 1.0
    return np.sum(h)


def loop_variable(x):
    s = 0.0
    for h in x:
        s = s + h * h
    return s


def pair(x):
    h = (x, x)
    return np.sum(h[0] * h[1])


def in_a_comprehension(x):
    return sum([h * h for h in x])


REFUSED = (
    in_a_loop,
    twice,
    added_to,
    in_a_branch,
    after_a_return,
    written_into,
    written_through_a_view,
    loop_variable,
    pair,
)


@pytest.mark.parametrize("f", REFUSED)
def test_refused_where_it_is_not_clear_which_value_is_meant(f):
    with pytest.raises(DifferentiationError, match=r"^E5009 .*`h` .*: it is not clear which value is meant"):
        grad(f, wrt="h")(X)


def test_refused_what_is_bound_nowhere():
    for f in (twice, in_a_comprehension):
        with pytest.raises(DifferentiationError, match="E5009"):
            grad(f, wrt="z")(X)


@pytest.mark.parametrize("f", [in_a_comprehension])
def test_refused_a_name_of_a_comprehension(f):
    with pytest.raises(DifferentiationError, match="E5009"):
        grad(f, wrt="h")(X)


def test_refused_in_forward_mode():
    with pytest.raises(DifferentiationError, match="E5009"):
        srcgrad.jacobian(mixed, wrt="h")
    with pytest.raises(DifferentiationError, match=r"E5009 .*mode forward has no tangent"):
        dump("-", text="def f(x):\n    h = x * x\n    return h * h\n", wrt=("h",), mode="forward")


def test_refused_an_integer():
    def f(n, w):
        h = n * 2
        return np.sum(w * h) + 0.3 * h[1]

    with pytest.raises(DifferentiationError, match="E5002"):
        grad(f, wrt="h")(np.arange(3), np.ones(3))
