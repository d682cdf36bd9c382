"""Texts whose arguments are not known, at complex values: right, or refused in the line that says what was assumed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from srcgrad import DifferentiationError, check_grads, grad
from srcgrad.interface.dump import dump

Z = np.array([1.0 + 2.0j, 0.5 - 1.0j])
LOOKED = {  # real results through complex values: the text for real ones leaves out a conjugate, or a part
    "real": "return np.sum(np.real(z * z))",
    "attribute": "return np.sum((z * np.conj(z)).real)",
    "imag": "return np.imag(z[1] * z[0])",
    "abs": "return np.sum(np.abs(z * z + 1.0))",
    "method": "return (z.conj() * z[::-1]).real.sum()",
    "angle": "return np.sum(np.angle(z))",
    "vdot": "return np.real(np.vdot(z, z * z))",
    "power": "return np.sum(np.abs(z**3) ** 2)",
    "loop": "s = 1.0\n    for v in z:\n        s = s * v\n    return np.abs(s)",
    "helper": "return h(z)",
    "written": "a = np.empty_like(z)\n    a[:] = z * z\n    return np.sum(np.abs(a))",
    "transform": "return np.sum(np.abs(np.fft.fft(z)) ** 2)",
    "denominator": "return np.sum(np.real(1.0 / z))",
    "product of all": "return np.real(np.prod(z))",
    "products": "return np.sum(np.real(np.cumprod(z)))",
    "operand twice": "return np.real(np.einsum('i,i', z, z))",
    "polynomial": "return np.sum(np.real(np.polyval(np.array([1.0, 2.0, 3.0]), z)))",
    "inverse": "return np.real(np.linalg.inv(np.diag(z))[0, 0])",
    "determinant": "return np.real(np.linalg.det(np.diag(z)))",
    "matrix of a system": "return np.real(np.linalg.solve(np.diag(z), np.ones(2))[0])",
    "called in a loop": "s = 0.0\n    for k in range(2):\n        s = s + np.real(powers(z, k)[0])\n    return s",
    "item": "p = [z[0], z[1]]\n    return np.abs(p[0] * p[1])",
}
ALIKE = {  # texts that are right for complex values as they stand
    "real": "return np.sum(np.real(z))",
    "abs": "return np.sum(np.abs(z) ** 2)",
    "norm": "return np.linalg.norm(2.0 * z - 1.0)",
    "sum": "return np.abs(np.sum(3.0 * z[::-1]))",
    "numerator": "return np.sum(np.abs(z / np.array([2.0, 4.0])))",
    "operand": "return np.abs(np.einsum('i,i', z, np.array([2.0, 4.0])))",
    "right side": "return np.linalg.norm(np.linalg.solve(np.array([[2.0, 1.0], [0.5, 3.0]]), z))",
    "average": "return np.abs(np.average(z, weights=np.array([1.0, 3.0])))",
    "chosen": "return np.linalg.norm(np.where(np.real(z) > 0.7, z, 2.0 * z))",
    "called": "return np.linalg.norm(steps(z))",
}
REAL = {  # nothing of a complex value comes to a real result here: the texts are as they were
    "sum": "return np.sum(z * z)",
    "tanh": "return np.sum(np.tanh(z) ** 2)",
    "compared": "return np.sum(np.maximum(z, 0.0) * z)",
}
TEXT = (
    "import numpy as np\ndef h(a):\n    return np.sum(np.real(a * a))\n"
    "def powers(a, n):\n    y = a\n    for k in range(n + 1):\n        y = y * a\n    return y\n"
    "def steps(a):\n    y = 2.0 * a\n    for k in range(3):\n        y = y + a\n    return y\n"
    "def f(z):\n    {}\n"
)


def _made(body: str, mode: str) -> tuple[str, Any, Any]:
    text = TEXT.format(body)
    made = dump("-:f", text=text, mode=mode).text
    names: dict[str, Any] = {}
    exec(compile(made, "made.py", "exec"), names)
    plain: dict[str, Any] = {}
    exec(text, plain)
    suffix = {"reverse": "grad", "forward": "jvp", "value-and-grad": "value_and_grad"}[mode]
    return made, names[f"f_{suffix}"], plain["f"]


def _differences(f: Any) -> Any:
    step = 1e-6
    units = np.eye(2)
    return np.array(
        [sum(w * (f(Z + step * w * e) - f(Z - step * w * e)) / (2 * step) for w in (1.0, 1.0j)) for e in units]
    )


@pytest.mark.parametrize("mode", ["reverse", "value-and-grad"])
@pytest.mark.parametrize("name", LOOKED)
def test_complex_arguments_are_looked_at(name: str, mode: str) -> None:
    made, derivative, _ = _made(LOOKED[name], mode)
    assert made.count("    check_real(z)\n") == 1
    with pytest.raises(TypeError, match="E5017 a value was taken for real"):
        derivative(Z)
    x = Z.real.copy()
    _, derivative, f = _made(LOOKED[name], mode)
    got = derivative(x)
    got = got if mode == "reverse" else got[1]
    steps = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(2)]
    assert np.allclose(got, steps, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", [*LOOKED, "abs alone"])
def test_forward_texts_look(name: str) -> None:
    made, derivative, _ = _made(LOOKED.get(name, "return np.sum(np.abs(z))"), "forward")
    assert "check_real(z)" in made
    with pytest.raises(TypeError, match="E5017 a value was taken for real"):
        derivative(Z, z_dot=Z)


@pytest.mark.parametrize("name", ALIKE)
def test_texts_that_hold_for_complex_values(name: str) -> None:
    made, derivative, f = _made(ALIKE[name], "reverse")
    assert "check_real" not in made
    assert np.allclose(derivative(Z), _differences(f), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", REAL)
def test_texts_of_real_functions_are_as_they_were(name: str) -> None:
    assert "check_real" not in _made(REAL[name], "reverse")[0]


def test_parts_of_a_container_and_weights_are_looked_at() -> None:
    text = "import numpy as np\ndef f(x, p):\n    return np.sum(np.abs(x * p['w']))\n"
    names: dict[str, Any] = {}
    exec(dump("-:f", text=text, wrt=("x",)).text, names)
    x, w = np.array([0.3, 0.5]), np.array([0.7, 0.2])
    assert np.allclose(names["f_grad"](x, {"w": w}), w)
    assert np.allclose(names["f_grad"](x * 1j, {"w": w}), w * 1j)  # one factor alone is complex: nothing is conjugated
    with pytest.raises(TypeError, match="E5017"):
        names["f_grad"](x, {"w": w * 1j})


def test_a_second_derivative_looks_once() -> None:
    made = dump("-:f", text=TEXT.format("return np.sum(np.real(z**3))"), mode="hvp").text
    assert made.count("    check_real(z)\n") == 1


def test_an_annotated_argument_is_not_looked_at() -> None:
    text = TEXT.format("return np.sum(np.real(z * z))").replace("(z)", "(z: complex)", 1)
    assert "check_real" not in dump("-:f", text=text).text


def damped(x, loss):
    y = np.zeros(len(x), complex) if np.iscomplexobj(x) else np.zeros(len(x))
    for k in range(len(x)):
        y[k] = x[k] ** 2
    if loss:
        y = y * np.exp(1j * loss * x)
    return np.sum(np.clip(y, 0.1, 1.0))


def test_what_may_be_complex_is_looked_at_where_no_rule_holds_for_it() -> None:
    x = np.array([0.4, 0.9, 1.7])
    check_grads(damped, (x, 0), wrt=0, order=2)
    with pytest.raises(DifferentiationError, match="E5017"):
        grad(damped)(x, 0.1)
