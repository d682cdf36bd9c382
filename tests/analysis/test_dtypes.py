"""Complex numbers: the convention, dtypes, what is refused, and where complex values come from."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from srcgrad import check_grads, grad, jacobian, jvp, source, value_and_grad, vjp
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.check.check import check_report
from srcgrad.interface.dump import dump

X = np.array([0.3, -0.7, 1.2])
Z = np.array([0.3 + 1.0j, -0.7 + 0.2j, 1.2 - 0.6j])
W = 2.0 * Z + 1.0


def energy(z):
    return np.sum(np.abs(z) ** 2)


def test_the_gradient_of_an_energy() -> None:
    assert_allclose(grad(energy)(Z), 2.0 * Z, rtol=1e-15)
    assert grad(energy)(1.0 + 2.0j) == 2.0 + 4.0j
    assert_allclose(grad(lambda z: np.sum(z * z.conj()).real)(Z), 2.0 * Z, rtol=1e-15)


def test_an_adjoint_is_conjugated_and_a_tangent_is_not() -> None:
    c = 2.0 + 3.0j
    _, pullback = vjp(lambda z: c * z, 1.0 + 0.0j)
    assert pullback(1.0 + 0.0j) == (2.0 - 3.0j,)
    assert pullback(1j) == (1j * (2.0 - 3.0j),)
    assert jvp(lambda z: c * z, (1.0 + 0.0j,), (1.0j,))[1] == 1j * c


def test_a_real_argument_gets_the_real_part() -> None:
    gradient = grad(lambda x: np.sum((x * W).real))(X)
    assert gradient.dtype == np.float64
    assert_allclose(gradient, W.real)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_gradients_have_the_dtype_of_their_argument(dtype: Any) -> None:
    z = Z.astype(dtype)
    real = z.real.copy()
    one, two = grad(lambda z, x: np.sum(np.abs(z * x * W) ** 2), (0, 1))(z, real)
    assert one.dtype == dtype
    assert two.dtype == real.dtype
    y, y_dot = jvp(lambda x: x + 1j, (real,), (real,))
    assert y_dot.dtype == y.dtype
    assert type(grad(energy)(dtype(1j))) is dtype


@pytest.mark.parametrize("z", [Z[:0], np.array(1 + 2j), np.outer(Z, Z)[::2, ::-1].T, Z[:1]], ids=str)
def test_shapes_and_layouts(z: Any) -> None:
    found = grad(energy)(z)
    assert found.shape == z.shape
    assert_allclose(found, 2.0 * z)


def test_the_gradient_of_magnitudes_at_zero() -> None:
    assert grad(lambda z: abs(z))(0j) == 0j
    assert grad(energy)(0j) == 0j
    assert jvp(grad(energy), (np.zeros(2) * 1j,), (np.array([1j, 1.0]),))[1].tolist() == [2j, 2.0]
    assert grad(lambda z: np.angle(z))(0j) == 0j


def test_hessian_of_a_power_spectrum() -> None:
    """The sum of |fft(x)|**2 is n |x|**2."""

    def power(x):
        return np.sum(np.abs(np.fft.fft(x)) ** 2)

    for x in (X, np.zeros(3)):
        assert_allclose(jvp(grad(power), (x,), (X,))[1], 6.0 * X, atol=1e-14)
        assert_allclose(grad(lambda q: np.vdot(grad_of_power(q), X))(x), 6.0 * X, atol=1e-14)


grad_of_power = grad(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2))


def test_a_derivative_that_a_function_calls_is_made_for_complex_arguments() -> None:
    slope = grad(lambda z: np.sum(np.abs(z) ** 4))
    check_grads(lambda z: np.sum((slope(z) * W).real), (Z,), order=1)
    check_grads(lambda x: np.sum((slope(x * 1j) * W).real), (X,), order=1)


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("size", [4, 5])
def test_norms_given_as_values(norm: str | None, size: int) -> None:
    x = np.linspace(-1.0, 1.3, size) ** 2
    check_grads(lambda x: np.abs(np.fft.rfft(x, norm=norm)), (x,))
    check_grads(lambda x: np.fft.irfft(np.fft.fft(x, 3, norm=norm) * (1 + 2j), size, norm=norm), (x,))


def test_seeds_and_tangents_are_cast_where_nothing_is_lost() -> None:
    _, pullback = vjp(lambda z: z * 2.0, Z)
    assert pullback(X)[0].dtype == np.complex128
    assert jvp(lambda z: z * 2.0, (Z,), (X,))[1].dtype == np.complex128


def test_check_grads_sees_a_missing_conjugate() -> None:
    """Real and imaginary parts are moved: a gradient that is conjugated does not pass."""
    records = check_report(lambda z: np.sum(z * z * W), (Z,), 1)
    assert all(record.passed for record in records)
    assert len({record.oracle for record in records}) > 5


class Filter:
    def __init__(self) -> None:
        self.response = W

    def gain(self) -> complex:
        return 1j * 2


def of_object(x, f):
    return np.sum((x * f.response).imag + (x * f.gain() * W).real)


def of_dict(x, d):
    return np.sum((x * d["w"][0]).real)


def of_dtype(x, dtype):
    a = np.zeros(3, dtype)
    a[:] = x * W
    return np.sum(a.imag)


def of_function(x, f):
    return np.sum((f(x) * W).real)


def with_default(x, w=W):
    return np.sum((x * w * 1j).real)


LISTED = [1.0, 2.0j]


def of_list(x):
    return np.sum((x * LISTED[1] * W).real)


def of_roots(x):
    return np.sum(np.abs(x[:2] * np.roots([1.0, 0.0, 1.0]) + 1j) ** 2)


def of_eigenvalues(x):
    return np.sum(np.abs(x[:2] * np.linalg.eigvals(np.array([[0.0, 1.0], [-1.0, 0.0]])) + 1j) ** 2)


SOURCES = [
    (of_object, (X, Filter())),
    (of_dict, (X, {"w": (W, 2)})),
    (of_dtype, (X, complex)),
    (of_dtype, (X, Z.dtype)),
    (of_function, (X, lambda q: q * 1j)),
    (with_default, (X,)),
    (of_list, (X,)),
    (of_roots, (X,)),
    (of_eigenvalues, (X,)),
]


@pytest.mark.parametrize(("function", "args"), SOURCES, ids=lambda v: getattr(v, "__name__", ""))
def test_complex_values_that_are_no_arguments(function: Any, args: Any) -> None:
    check_grads(function, args, order=1, wrt=0)


def test_a_global_that_becomes_complex() -> None:
    scope: dict[str, Any] = {"np": np, "w": X}
    name = "<a global that becomes complex>"
    text = "def f(x):\n    return np.sum(np.abs(x * w + 1j) ** 2)\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), scope)
    gradient = grad(scope["f"])
    assert_allclose(gradient(X), 2.0 * X**3)
    scope["w"] = W
    assert_allclose(gradient(X), 2.0 * ((X * W + 1j) * W.conj()).real)


def write_real(x):
    z = x * 1j
    z.real[:] = x
    return np.abs(z[0])


def write_through_name(x):
    z = x * 1j
    r = z.real
    r[0] = x[1]
    return np.abs(z[0])


def write_stale(x):
    z = x * 1j + x
    r = z.real
    z[0] = 3.0 * x[1]
    return r[0]


def write_into_floats(x):
    a = np.zeros(3)
    a[0] = x[0] * 1j
    return np.abs(a[0])


def write_into_copy_of_floats(x):
    a = np.ones(3).copy()
    a[:] = x * W
    return np.sum(np.abs(a))


REFUSED = [
    (write_real, X, "E5010"),
    (write_through_name, X, "E5010"),
    (write_stale, X, "E5010"),
    (write_into_floats, X, "E5017"),
    (write_into_copy_of_floats, X, "E5017"),
    (lambda z: np.max(z).real, Z, "E5017"),
    (lambda z: np.sort(z)[0].real, Z, "E5017"),
    (lambda z: np.maximum(z, 0.0)[0].real, Z, "E5017"),
    (lambda z: np.sum(np.where(z > 0, z, 0)).real, Z, "E5017"),
    (lambda z: z[np.argmax(z)].real, Z, "E5017"),
    (lambda z: np.sum(np.sign(z)).real, Z, "E5017"),
    (lambda z: np.std(z), Z, "E5017"),
    (lambda z: np.linalg.svd(np.outer(z, z) + np.eye(3))[0][0, 0].real, Z, "E5017"),
    (lambda z: np.sum(z), Z, "E5007"),
    (lambda x: np.sum(x) * 1j, X, "E5007"),
    (lambda a: abs(a**0.5), -2.0, "E5017"),
]


@pytest.mark.parametrize(("function", "value", "code"), REFUSED)
@pytest.mark.parametrize("derivative", [grad, value_and_grad])
def test_refused(function: Any, value: Any, code: str, derivative: Any) -> None:
    with pytest.raises(DifferentiationError) as caught, np.errstate(invalid="ignore"):
        derivative(function)(value)
    assert caught.value.code == code


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_jacobians_of_complex_values_are_refused(mode: str) -> None:
    for function, value in ((lambda z: z * z, Z), (lambda x: x * W, X)):
        with pytest.raises(DifferentiationError, match="E5017"):
            jacobian(function, mode=mode)(value)


def test_complex_seeds_and_tangents_of_real_values_are_refused() -> None:
    _, pullback = vjp(lambda x: x * 2.0, X)
    with pytest.raises(DifferentiationError, match="E5017"):
        pullback(Z)
    with pytest.raises(DifferentiationError, match="E5017"):
        jvp(lambda x: x * 2.0, (X,), (Z,))


@pytest.mark.parametrize(("function", "value"), [(energy, Z), (lambda x: energy(x * 1j), X)])
def test_kernels_refuse_complex_values(function: Any, value: Any) -> None:
    with pytest.raises(DifferentiationError, match="E5017"):
        grad(function, target="opencl")(value)


def test_second_derivatives_of_derivatives_inside_at_complex_values_are_refused() -> None:
    slope = grad(energy)
    steep = grad(lambda z: np.sum(np.abs(slope(z)) ** 2))
    with pytest.raises(DifferentiationError, match="E5017"):
        grad(lambda x: np.sum(steep(x * 1j).imag))(X)


DUMPED = """
import numpy as np
from numpy.typing import NDArray

WINDOW = np.exp(1j * np.linspace(0.0, 1.0, 3))


def scaled(z: complex, c: "np.complex128", a: float):
    return abs(z * c) ** 2 * a


def windowed(x, w: NDArray[np.complex64]):
    return np.sum(np.abs(x * WINDOW * w) ** 2)
"""


def test_annotations_and_constants_of_a_dumped_module() -> None:
    scope: dict[str, Any] = {}
    text = dump("-", text=DUMPED).text
    exec(text, scope)
    z, c, a = 1.0 + 2.0j, 0.5 - 1.0j, 2.0
    assert_allclose(scope["scaled_grad"](z, c, a), (2 * a * abs(c) ** 2 * z, 2 * a * abs(z) ** 2 * c, abs(z * c) ** 2))
    x_bar, w_bar = scope["windowed_grad"](X, W)
    assert x_bar.dtype == np.float64
    assert_allclose(x_bar, 2.0 * X * np.abs(W) ** 2)
    assert_allclose(w_bar, 2.0 * X**2 * W)


def test_texts_of_real_functions_know_nothing_of_complex_numbers() -> None:
    text = source(lambda x, y: np.sum(np.abs(x * y) / np.exp(x)))
    assert "conj" not in text
    assert ".real" not in text
