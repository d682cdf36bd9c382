"""Second derivatives of structured arguments, and the texts of Jacobians, Hessians and their products."""

from __future__ import annotations

import collections
import dataclasses

import numpy as np
import pytest

import srcgrad
from srcgrad import grad, hessian, hvp, jacobian
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.files import load
from srcgrad.interface.dump import dump

X = np.array([0.3, -0.7, 1.1])


def curve(x, k):
    return np.array([x[0] * k, np.sum(x * x) * k, np.tanh(x[1]) * x[2], x[2] ** 3])


def energy(x, k):
    return np.sum(np.exp(k * x) * x[::-1]) + np.sum(x) ** 2 * k


@dataclasses.dataclass
class Parameters:
    """A structured argument."""

    w: object
    b: float


def of_fields(p):
    return np.sum(p.w**2) * p.b


def of_keys(p):
    return np.sum(p["w"] ** 2) * p["b"] + 0.0 * p["b"] * p["b"]


def of_items(p):
    return np.sum(p[0] ** 2) * p[1]


def of_nested(p):
    return np.sum(p["layers"][0]["w"] ** 2) * p["layers"][1]["b"]


NESTED = {"layers": [{"w": X, "unused": 1.0}, {"b": 2.0}], "name": "net"}


def _items(value):
    fields = vars(value) if isinstance(value, Parameters) else value
    return list(fields.values()) if isinstance(fields, dict) else list(fields)


@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (of_keys, {"w": X, "b": 2.0}),
        (of_items, (X, 2.0)),
        (of_items, [X, 2.0]),
        (of_fields, Parameters(X, 2.0)),
        (of_fields, collections.namedtuple("Named", "w b")(X, 2.0)),
    ],
)
def test_hessian_of_structures(function, argument, mode):
    found = hessian(function, mode=mode)(argument)
    assert type(found) is type(argument)
    blocks = [_items(row) for row in _items(found)]
    np.testing.assert_allclose(blocks[0][0], 4.0 * np.eye(3))
    np.testing.assert_allclose(blocks[0][1], 2.0 * X)
    np.testing.assert_allclose(blocks[1][0], 2.0 * X)
    assert blocks[1][1] == 0.0


def test_second_derivative_of_nested_structures():
    along = {"layers": [{"w": X, "unused": 0.0}, {"b": 1.0}], "name": None}
    found = hvp(of_nested)(NESTED, along)
    np.testing.assert_allclose(found["layers"][0]["w"], 2.0 * X * 1.0 + 2.0 * 2.0 * X)
    assert found["layers"][0]["unused"] == 0.0
    np.testing.assert_allclose(found["layers"][1]["b"], 2.0 * np.sum(X * X))


def test_texts():
    text = srcgrad.source(curve, mode="jacobian", wrt="x")
    made = load(text, "curve_jacobian", "jacobian", {}, by="test")
    np.testing.assert_allclose(made(X, 1.3), jacobian(curve)(X, 1.3))
    text = srcgrad.source(energy, mode="hessian", wrt="x")
    made = load(text, "energy_grad_jacobian", "hessian", {}, by="test")
    np.testing.assert_allclose(made(X, 0.8), hessian(energy)(X, 0.8))
    with pytest.raises(DifferentiationError, match="E5007"):
        srcgrad.source(energy, mode="hessian", wrt=("x", "k"))
    text = srcgrad.source(energy, mode="hvp", wrt="x")
    made = load(text, "energy_hvp", "hvp", {}, by="test")
    np.testing.assert_allclose(made(X, 0.8, x_dot=X), hvp(energy)(X, 0.8, X))
    with pytest.raises(DifferentiationError, match="E5006"):
        srcgrad.source(curve, mode="backward")


def test_text_of_names_that_clash():
    def f(x, i, np_=1.0, unit=2.0, *, x_rows=3.0):
        return np.array([x[0] * i * unit, x[1] ** 2 * x_rows * np_])

    expected = 2.0 * X[:2] * [0.0, 36.0]  # of x_rows = 3, np_ = 1
    np.testing.assert_allclose(grad(lambda x: np.sum(jacobian(f)(x, 3.0) ** 2))(X[:2]), expected)


def test_dump_of_a_hessian_product():
    text = dump(
        "-:f", text="import numpy as np\ndef f(x, k):\n    return np.sum(np.exp(k * x))\n", mode="hvp", wrt=("x",)
    )
    made = load(text.text, "f_hvp", "hvp", {}, by="test")
    np.testing.assert_allclose(made(X, 0.8, x_dot=X), 0.64 * X * np.exp(0.8 * X))
