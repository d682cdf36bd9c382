"""Derivatives of functions that ask for derivatives: values as they run, both modes, first and second order."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from srcgrad import grad, jvp, vjp
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.files import load
from srcgrad.interface.check.finite_differences import central_difference
from srcgrad.interface.dump import dump
from tests.programs.inner_programs import PROGRAMS

X = np.array([0.5, 1.0, 2.0])
V = np.array([0.3, -1.0, 0.7])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_first_order(program):
    expected = central_difference(program, (X,), V, 1e-6)[0]
    value, pullback = vjp(program, X, wrt=0)
    np.testing.assert_allclose(value, program(X), rtol=1e-13)
    np.testing.assert_allclose(np.dot(pullback(1.0), V), expected, rtol=1e-6)
    value, tangent = jvp(program, (X,), (V,)) if program.__code__.co_argcount == 1 else (value, None)
    np.testing.assert_allclose(value, program(X), rtol=1e-13)
    if tangent is not None:
        np.testing.assert_allclose(tangent, np.dot(pullback(1.0), V), rtol=1e-10)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_second_order(program):
    gradient = grad(program)
    expected = central_difference(gradient, (X,), V, 1e-6)
    forward = srcgrad.hvp(program)
    product = forward.derivative.forward((X,), (V,)) if program.__code__.co_argcount > 1 else forward(X, V)
    np.testing.assert_allclose(product, expected, rtol=1e-5, atol=1e-7)
    _, pullback = vjp(gradient, X, wrt=0)
    np.testing.assert_allclose(pullback(V), expected, rtol=1e-5, atol=1e-7)


def test_perturbations_are_not_confused():
    assert grad(lambda x: x * grad(lambda y: x + y)(x))(2.0) == 1.0
    assert jvp(lambda x: x * jvp(lambda y: x + y, (x,), (1.0,))[1], (2.0,), (1.0,)) == (2.0, 1.0)
    assert grad(lambda x: x * jvp(lambda y: x * y, (x,), (1.0,))[1])(2.0) == 4.0


def square(x):
    return x * x


def exponential(x):
    return np.exp(2.0 * x)


def ahead(f):
    return lambda x: jvp(f, (x,), (1.0,))[1]


@pytest.mark.parametrize("outer", [ahead, grad])
@pytest.mark.parametrize("inner", [ahead, grad])
def test_modes_agree_at_second_order(outer, inner):
    assert outer(inner(square))(3.0) == 2.0
    np.testing.assert_allclose(outer(inner(exponential))(1.0), 4.0 * np.exp(2.0), rtol=1e-14)


@pytest.mark.parametrize("one", [ahead, grad])
@pytest.mark.parametrize("two", [ahead, grad])
@pytest.mark.parametrize("three", [ahead, grad])
def test_modes_agree_at_third_order(one, two, three):
    np.testing.assert_allclose(one(two(three(exponential)))(1.0), 8.0 * np.exp(2.0), rtol=1e-14)


MODEL = """
import numpy as np
import srcgrad
from srcgrad import grad, hessian, jvp

RATE = 2.0

def potential(q, k):
    return 0.5 * RATE * np.sum(k * q**3)

def force(q, k):
    return np.sum(grad(potential)(q, k) ** 2)

def curved(q, k):
    return np.sum(hessian(potential)(q, k) ** 2)

def along(q, k):
    y, y_dot = jvp(lambda z: srcgrad.grad(potential)(z, k), (q,), (k,))
    return np.sum(y * y_dot)
"""


@pytest.mark.parametrize("name", ["force", "curved", "along"])
def test_dump_reads_and_does_not_run(name):
    text = dump(f"-:{name}", text=MODEL).text
    assert text == dump(f"-:{name}", text=MODEL).text
    model = load(MODEL, name, "model", {}, by="test")
    found = load(text, f"{name}_grad", "dumped", {}, by="test")(X, V)
    for position, adjoint in enumerate(found):
        moved = lambda z: model(*((z, V) if position == 0 else (X, z)))  # noqa: B023, E731
        expected = [central_difference(moved, ((X, V)[position],), e, 1e-6)[0] for e in np.eye(3)]
        np.testing.assert_allclose(adjoint, expected, rtol=1e-6)


def chosen(h, g, x):
    pick = h if x > 0.0 else g
    return grad(pick)(x)


@pytest.mark.parametrize(
    ("program", "code"),
    [
        (lambda x: chosen(square, exponential, x), "E5003"),
        (lambda x: grad(lambda y: y * x, 1)(x), "E5009"),
        (lambda x: grad(lambda y: y * x)(2) * x, "E5002"),
        (lambda x: jvp(square, (x,), (1.0, 2.0))[1], "E5005"),
        (lambda x: grad(square, target="opencl")(x), "E5019"),
        (lambda x: grad(lambda y: y * len("ab"), wrt=int(x))(x), "E5005"),
    ],
)
def test_refusals(program, code):
    with pytest.raises(DifferentiationError, match=code):
        grad(program)(1.5)


def test_redefinition_is_noticed():
    namespace = {"grad": grad}
    text = "def f(x):\n    return grad(g)(x) * x\n"
    g1 = load("def g(x):\n    return x * x * x\n", "g", "one", {}, by="test")
    g2 = load("def g(x):\n    return x * x\n", "g", "two", {}, by="test")
    namespace["g"] = g1
    f = load(text, "f", "f", namespace, by="test")
    gradient = grad(f)
    assert gradient(2.0) == 36.0
    namespace["g"] = g2
    assert gradient(2.0) == 8.0


GRADIENT = grad(lambda z: np.sum(z**3))


def written_through_a_view(x):
    a = x * 2.0
    v = a[1:]
    v[0] = x[0] * x[2]
    return np.sum(GRADIENT(a) * a)


def read_by_a_view(x):
    a = np.zeros(3)
    a[:] = x
    b = a[::2]
    b[0] = x[1] ** 2
    a[1] = np.sum(GRADIENT(a))
    return np.sum(a * a * b[1])


def second_name(x):
    a = x * 1.0
    b = a
    b[0] = GRADIENT(x)[1]
    return np.sum(a**2)


def captured_and_changed(x):
    a = x * 1.0
    d = grad(lambda z: np.sum(z * a))
    a[0] = x[1] * 5.0
    return np.sum(d(x) * x)


def pulled_back_late(x):
    a = x * 1.0
    _, pullback = vjp(lambda z: z * z * z, a)
    a[0] = x[1] * 5.0
    return np.sum(pullback(x)[0] * a)


@pytest.mark.parametrize(
    "program", [written_through_a_view, read_by_a_view, second_name, captured_and_changed, pulled_back_late]
)
def test_writes_are_followed_or_refused(program):
    """Where our own text stands among the user's statements, views are not looked at anew."""
    gradient = grad(program)
    if program is pulled_back_late:
        with pytest.raises(DifferentiationError, match="E5010"):
            gradient(X)
        return
    np.testing.assert_allclose(np.dot(gradient(X), V), central_difference(program, (X,), V, 1e-6)[0], rtol=1e-6)
    with pytest.raises(DifferentiationError, match="E5010"):
        srcgrad.hvp(program)(X, V)


def weighted(x, w):
    return np.sum(x * (3.0 - w) + x * -w * x)


def pushed_along_both(x, w, v):
    y, y_dot = jvp(weighted, (x, w), (v, v))
    return y * y_dot


def pulled_back_to_both(x, w, v):
    y, pullback = vjp(weighted, x, w)
    return np.sum(pullback(y)[0] * v)


def of_a_part(x, w, v):
    s = 0.0
    for _ in range(2):
        if s < 5.0:
            s = s + np.sum(grad(weighted, 1)(x, w[::-1]) * v)
    return s


def of_a_sum(x, w, v):
    def along(z, u):
        return jvp(weighted, (z, u + u), (v, v))[1]

    return along(x * 2.0, w) * x[0]


@pytest.mark.parametrize("program", [pushed_along_both, pulled_back_to_both, of_a_part, of_a_sum])
@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_integers_are_no_input_of_an_inner_derivative(program, target):
    """The inner text takes `w` for a float, of which `x * -w` is `-x * w`: of small integers it is not."""
    gradient = grad(program, target=target)
    weights = np.array([2.0, 5.0, 1.0])
    np.testing.assert_allclose(
        np.dot(gradient(X, weights, V), V),
        central_difference(lambda x: program(x, weights, V), (X,), V, 1e-6)[0],
        rtol=1e-6,
    )
    for kind in (np.uint8, np.int64):
        with pytest.raises(DifferentiationError, match="E5002" if target == "numpy" else "check_input"):
            gradient(X, weights.astype(kind), V)


def test_an_integer_without_a_tangent_stays_what_it_is():
    weights = np.array([2, 5, 1], np.uint8)
    program = lambda x: jvp(weighted, (x, weights), (V, None))[1]  # noqa: E731
    np.testing.assert_allclose(np.dot(grad(program)(X), V), central_difference(program, (X,), V, 1e-6)[0], rtol=1e-6)
    moved = lambda x, w: jvp(weighted, (x, w * x), (x, w))[1]  # noqa: E731
    assert "check_input" not in srcgrad.source(moved)
