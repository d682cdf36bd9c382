"""The calculus on top of gradients, against finite differences, against each other, and as text."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import srcgrad
from srcgrad import elementwise_grad, grad, hessian, hvp, jacobian, linearize, transpose, value_and_grad, vjp
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import Kind
from srcgrad.interface.check.finite_differences import central_difference, vector

Pair = collections.namedtuple("Pair", "a b")
X = np.array([0.3, -0.7, 1.1])


def curve(x, k):
    return np.array([x[0] * k, np.sum(x * x) * k, np.tanh(x[1]) * x[2], x[2] ** 3])


def energy(x, k):
    return np.sum(np.exp(k * x) * x[::-1]) + np.sum(x) ** 2 * k


def structured(p, c):
    return {"u": p["w"] * p["b"] * c, "v": (np.sum(p["w"]) ** 2, 3)}


def differences(f, args, position):
    """The matrix of central differences with respect to one argument."""
    size = vector((args[position],)).size
    columns = []
    for direction in np.eye(size):
        moved = lambda x: f(*args[:position], x, *args[position + 1 :])  # noqa: E731
        columns.append(central_difference(moved, (args[position],), direction, 1e-5))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
@pytest.mark.parametrize("position", [0, 1])
def test_jacobian(mode, position):
    args = (X, 1.3)
    found = jacobian(curve, position, mode=mode)(*args)
    assert found.shape == np.shape(curve(*args)) + np.shape(args[position])
    expected = differences(curve, args, position).reshape(found.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
def test_jacobian_of_shapes(mode):
    outer = jacobian(lambda a: a[:, None] * a * 2.0, mode=mode)
    assert outer(X).shape == (3, 3, 3)
    flat = differences(lambda a: a[:, None] * a * 2.0, (X,), 0)
    np.testing.assert_allclose(outer(X).reshape(9, 3), flat, rtol=1e-8, atol=1e-9)
    assert jacobian(lambda a: a * a, mode=mode)(np.zeros((0, 2))).shape == (0, 2, 0, 2)
    assert jacobian(lambda a: np.sum(a) * np.ones(2), mode=mode)(np.zeros((0, 1))).shape == (2, 0, 1)
    assert jacobian(lambda a: (a * a)[:0], mode=mode)(X).shape == (0, 3)
    number = jacobian(lambda a: a * a, mode=mode)(3.0)
    assert (type(number), number) == (float, 6.0)
    zero = jacobian(lambda a: a * a, mode=mode)(np.array(3.0))
    assert (type(zero), zero.shape, float(zero)) == (np.ndarray, (), 6.0)
    single = jacobian(lambda a: a * a, mode=mode)(X.astype(np.float32)[::2])
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, np.diag(2.0 * X.astype(np.float32)[::2]))


SCALE = 2.0


def scaled_table(x, rows, table):
    return (table @ (x * SCALE))[rows] * len(rows)


@pytest.mark.parametrize("mode", [None, "forward"])
def test_jacobian_of_arguments_that_look_alike(mode, monkeypatch):
    """What ran for arguments like these runs again: shapes, numbers in lists and what is outside may be others."""
    of, table = jacobian(scaled_table, mode=mode), np.outer(np.arange(1.0, 8.0), X)
    looked = []
    kinds = of.ahead.kinds
    monkeypatch.setattr(of.ahead, "kinds", lambda values: looked.append(1) or kinds(values))
    for rows in ([0, 2, 1, 4], [5, 5, 6, 0], [3] * 6, [4, 0, 2, 1]):
        given = (X * len(looked), rows, table)
        found = of(*given)
        found[:] = 0.0  # belongs to the caller
        np.testing.assert_array_equal(of(*given), 2.0 * len(rows) * table[rows])
    assert len(looked) == 2
    text = of.source
    narrow = of(X.astype(np.float32), [0, 1, 2, 3], table)
    assert narrow.dtype == np.float32
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    np.testing.assert_array_equal(of(X, [0, 1, 2, 3], table), 12.0 * table[:4])
    assert of.source == text
    with pytest.raises(IndexError):
        of(X, [0, 1, 2, 9], table)
    with pytest.raises(DifferentiationError, match="E5017"):
        of(X + 0j, [0, 1, 2, 3], table)
    with pytest.raises(DifferentiationError, match="E5002"):
        of(X.astype(int), [0, 1, 2, 3], table)


@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
def test_jacobian_of_structures(mode):
    p = {"w": X, "b": 2.0}
    found = jacobian(structured, wrt=(0, "c"), mode=mode)(p, 0.5)
    to_p, to_c = found["u"]
    np.testing.assert_array_equal(to_p["w"], np.diag(np.full(3, 1.0)))
    np.testing.assert_array_equal(to_p["b"], X * 0.5)
    np.testing.assert_array_equal(to_c, X * 2.0)
    assert found["v"][1] is None
    np.testing.assert_allclose(found["v"][0][0]["w"], np.full(3, 2.0 * X.sum()))
    assert found["v"][0][1] == 0.0
    named = jacobian(lambda q: q.a * q.b, mode=mode)(Pair(2.0, 3.0))
    assert named == Pair(3.0, 2.0)


def test_reverse_runs_the_forward_half_once(monkeypatch):
    calls = []

    def f(x):
        return np.exp(x) * x

    found = jacobian(f, mode="reverse")
    found(X)
    behind = found.all_at_once("behind").executed_text({"x": Kind("array", 1)})
    monkeypatch.setitem(behind.function.__globals__, "np", _Counting(calls))
    found(X)
    assert calls == ["exp"]


class _Counting:
    """NumPy, with a note of each call of exp."""

    def __init__(self, calls):
        self.calls = calls

    def __getattr__(self, name):
        if name == "exp":
            self.calls.append(name)
        return getattr(np, name)


@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
def test_hessian(mode):
    found = hessian(energy, mode=mode)(X, 0.8)
    expected = differences(lambda x: grad(energy)(x, 0.8), (X,), 0)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(found, found.T, rtol=1e-14)
    (xx, xk), (kx, kk) = hessian(energy, wrt=("x", "k"), mode=mode)(X, 0.8)
    np.testing.assert_allclose(xx, found)
    np.testing.assert_allclose(xk, kx)
    np.testing.assert_allclose(kk, differences(lambda k: grad(energy, 1)(X, k), (0.8,), 0)[0, 0], rtol=1e-7)


def test_hvp():
    v = np.array([1.0, -2.0, 0.5])
    product = hvp(energy)
    np.testing.assert_allclose(product(X, 0.8, v), hessian(energy)(X, 0.8) @ v, rtol=1e-14)
    np.testing.assert_allclose(product(X, v, k=0.8), product(X, 0.8, v))
    assert product.source.count("def ") == 1
    both = hvp(energy, wrt=(0, 1))(X, 0.8, (v, 2.0))
    (xx, xk), (kx, kk) = hessian(energy, wrt=(0, 1))(X, 0.8)
    np.testing.assert_allclose(both[0], xx @ v + xk * 2.0)
    np.testing.assert_allclose(both[1], kx @ v + kk * 2.0)
    with pytest.raises(DifferentiationError, match="E5014"):
        hvp(energy, wrt=(0, 1))(X, 0.8, (v,))
    with pytest.raises(DifferentiationError, match="E5014"):
        product(X, 0.8, v[:2])


def test_elementwise_grad():
    found = elementwise_grad(lambda x: np.sin(x) * x)
    np.testing.assert_allclose(found(X), np.cos(X) * X + np.sin(X))
    np.testing.assert_allclose(elementwise_grad(found)(X), 2.0 * np.cos(X) - np.sin(X) * X)
    assert found(X.astype(np.float32)).dtype == np.float32
    assert elementwise_grad(lambda x: x * x)(3.0) == 6.0
    with pytest.raises(DifferentiationError, match="E5007"):
        elementwise_grad(lambda x: (x, x))(X)
    with pytest.raises(DifferentiationError, match="E5007"):
        elementwise_grad(lambda x: {"u": 2.0 * x, "v": x})(X)


def test_elementwise_grad_of_structures():
    """Of lists, tuples and dicts of arrays: each array gets its own derivative, in the same structure."""

    def f(p):
        return p["a"][0] * np.sin(p["b"])

    one, two = np.array([0.5, 1.0]), np.array([1.5, 2.0])
    found = elementwise_grad(f)({"a": [one, two], "b": two})
    np.testing.assert_allclose(found["b"], one * np.cos(two))
    np.testing.assert_allclose(found["a"][0], np.sin(two))
    np.testing.assert_array_equal(found["a"][1], [0.0, 0.0])
    first, second = elementwise_grad(lambda p: p[0] * p[1] ** 2)((one, two))
    np.testing.assert_allclose(first, two**2)
    np.testing.assert_allclose(second, 2.0 * one * two)


def test_linearize_and_transpose():
    y, push = linearize(curve, X, 1.3)
    np.testing.assert_array_equal(y, curve(X, 1.3))
    assert push.tangent_inputs == ("x_dot", "k_dot")
    u, v = np.array([1.0, 2.0, -1.0]), np.array([0.5, -1.0, 2.0])
    np.testing.assert_allclose(push(2.0 * u - v, -1.0), 2.0 * push(u, 1.0) - push(v, 3.0))
    seed = np.array([1.0, -0.5, 2.0, 0.25])
    pull = transpose(push)
    x_bar, k_bar = pull(seed)
    np.testing.assert_allclose(np.dot(seed, push(u, 0.7)), np.dot(x_bar, u) + k_bar * 0.7)
    assert transpose(pull) is push
    assert push.source != pull.source
    _, only = linearize(curve, X, 1.3, wrt="k")
    np.testing.assert_allclose(only(1.0), jacobian(curve, 1)(X, 1.3))
    with pytest.raises(DifferentiationError, match="E5014"):
        push(u)


def test_transpose_of_a_linear_function():
    matrix = np.array([[1.0, 2.0, 0.0], [0.5, -1.0, 3.0]])

    def apply(x):
        return matrix @ x

    turned = transpose(apply, X)
    np.testing.assert_allclose(turned(np.array([1.0, 2.0]))[0], matrix.T @ [1.0, 2.0])
    assert transpose(turned) is apply
    with pytest.raises(DifferentiationError, match="E5017"):
        transpose(lambda x: x * x, X)


def pair(x):
    return np.sum(x * x), {"largest": np.max(x), "square": x * x}


def through(x):
    return pair(2.0 * x)


def either(x):
    if np.sum(x) > 0.0:
        return np.sum(x * x), x
    return np.sum(x), -x


@pytest.mark.parametrize("function", [pair, through, either])
def test_auxiliary_values(function):
    expected = grad(lambda x: function(x)[0])(X) if function is not either else 2.0 * X
    found, beside = grad(function, has_aux=True)(X)
    np.testing.assert_allclose(found, expected)
    (value, again), other = value_and_grad(function, has_aux=True)(X)
    assert value == function(X)[0]
    np.testing.assert_array_equal(other, found)
    for one in (beside, again):
        np.testing.assert_equal(one, function(X)[1])
    with pytest.raises(DifferentiationError, match="E5007"):
        grad(lambda x: (x, x, x), has_aux=True)(1.0)


def test_wrt():
    def f(x, y, *, z=2.0):
        return x * x * y * z

    assert grad(f, -1)(3.0, 5.0) == 45.0
    assert grad(f, argnums=[1, 0])(3.0, 5.0) == (18.0, 60.0)
    assert grad(f, argnums="all")(3.0, 5.0) == (60.0, 18.0, 45.0)
    assert value_and_grad(f, ("z", "x"))(3.0, 5.0) == (90.0, (45.0, 60.0))
    assert vjp(f, 3.0, 5.0, wrt=["y"])[1](1.0) == (18.0,)
    for place in (3, -4, "w", (0, 0), ()):
        with pytest.raises(DifferentiationError, match="E5009"):
            grad(f, place)


def test_attributes():
    @srcgrad.differentiate
    def f(x):
        return np.sum(x**3)

    np.testing.assert_allclose(f.hessian(X), np.diag(6.0 * X))
    np.testing.assert_allclose(f.hvp(X, X), 6.0 * X * X)
    np.testing.assert_allclose(f.jacobian(X), 3.0 * X * X)


def test_text_of_the_second_and_third_derivative():
    def cube(a):
        return a * a * a

    second, third = grad(grad(cube)), grad(grad(grad(cube)))
    assert (second(2.0), third(2.0)) == (12.0, 6.0)
    for derivative in (second, third):
        lines = [line for line in derivative.source.splitlines() if line.strip() and not line.strip().startswith("#")]
        assert len(lines) <= 15
        assert "sum_to" not in derivative.source
    assert len(third.source) < 1.2 * len(second.source)


def test_an_integer_in_a_tuple_is_a_constant_in_all_modes() -> None:
    def f(p):
        a, n = p
        return a * a * n

    assert srcgrad.jvp(f, ((2.0, 3),), ((1.0, 1.0),)) == (12.0, 12.0)
    assert srcgrad.linearize(f, (2.0, 3))[1]((1.0, 1.0)) == 12.0
    assert srcgrad.hvp(f)((2.0, 3), (1.0, 1.0)) == (6.0, None)
    assert srcgrad.grad(f)((2.0, 3)) == (12.0, None)
