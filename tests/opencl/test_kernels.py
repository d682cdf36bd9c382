"""Derivatives with target="opencl" give what NumPy gives: every form, every layout, whole programs."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import srcgrad
import srcgrad.templates
from srcgrad.core.rules import Rule, rules
from srcgrad.opencl.devices.device import Lease
from srcgrad.opencl.kernels.c_functions import FUNCTIONS
from srcgrad.opencl.launch import launch
from tests.opencl.conftest import fewer
from tests.programs.small import made
from tests.random.targets import form

SHAPES = [
    (1,),
    (2,),
    (15,),
    (16,),
    (17,),
    (63,),
    (1023,),
    (1025,),
    (fewer(20011, 4111),),
    (3, 5),
    (2, 3, 4),
    (1, 7),
    (5, 1),
    (2, 1, 3, 2),
]


def kernel(arguments: list[str], lines: list[str], body: str = "None") -> Callable[..., Any]:
    """A kernel as the text has them."""
    code = "\n".join(f"        {line}" for line in lines)
    space: dict[str, Any] = {"np": np}
    exec(f'def k({", ".join(arguments)}):\n    """Of each element:\n\n{code}\n    """\n    return {body}\n', space)
    found: Callable[..., Any] = space["k"]
    return found


def formed() -> list[Rule]:
    """Rules with a form that kernels may have."""
    assert srcgrad.templates.load_all()
    found = [r for r in rules() if r.kind == "elementwise" and r.cl and "condition" not in r.cl]
    return [r for r in found if set(re.findall(r"(\w+)\(", str(r.cl))) <= FUNCTIONS]


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("rule", formed(), ids=lambda r: r.name)
def test_form(rule: Rule, real: Any, launched: list[str]) -> None:
    numbers = np.random.default_rng(3)
    domain = rule.domain if isinstance(rule.domain, dict) else dict.fromkeys(rule.parameters, rule.domain)
    args = [numbers.uniform(*domain.get(p, (-2.0, 2.0)), 100).astype(real) for p in rule.parameters]
    found = launch(kernel(list(rule.parameters), [f"REAL out_ = {rule.cl};", "STORE(out_);"]), *args)
    try:
        wanted = rule.op(*args)
    except TypeError:  # a function of numbers
        wanted = np.array([rule.op(*map(float, each)) for each in zip(*args, strict=True)])
    assert found.dtype == real and launched
    np.testing.assert_allclose(
        found, wanted, rtol=2e-5 if real is np.float32 else 1e-13, atol=1e-6 if real is np.float32 else 1e-15
    )


def mixed(x: Any, w: Any, c: Any) -> Any:
    t = np.tanh(x * w + c)
    return np.sum(t * np.exp(-x * x) + np.where(x > 0.0, x, 0.1 * w))


def compared(function: Callable[..., Any], args: tuple[Any, ...], rtol: float) -> None:
    wrt = tuple(range(len(args)))
    value, gradients = srcgrad.value_and_grad(function, wrt=wrt)(*args)
    other, found = srcgrad.value_and_grad(function, wrt=wrt, target="opencl")(*args)
    assert type(other) is type(value)
    np.testing.assert_allclose(other, value, rtol=10 * rtol, atol=rtol)
    for one, two in zip(gradients, found, strict=True):
        assert type(one) is type(two) and np.shape(one) == np.shape(two)
        assert getattr(one, "dtype", None) == getattr(two, "dtype", None)
        np.testing.assert_allclose(
            two, one, rtol=10 * rtol, atol=rtol * max(1.0, float(np.max(np.abs(one), initial=0.0)))
        )


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape: tuple[int, ...], real: Any, launched: list[str]) -> None:
    numbers = np.random.default_rng(1)
    x, w = (numbers.standard_normal(shape).astype(real) for _ in range(2))
    compared(mixed, (x, w, 0.3), 1e-5 if real is np.float32 else 1e-13)
    assert launched or x.size == 1
    launched.clear()
    compared(mixed, (x, w[..., :1], 0.3), 1e-5 if real is np.float32 else 1e-13)
    if x.ndim > 1:
        compared(mixed, (x, w[0], 0.3), 1e-5 if real is np.float32 else 1e-13)
    assert launched or x.size == 1


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[::2],
        lambda a: a[::-1],
        lambda a: a.T,
        lambda a: a[:, ::3],
        lambda a: a[1:-1, 2:],
        lambda a: np.asfortranarray(a),
        lambda a: np.broadcast_to(a[:1], a.shape),
        lambda a: a[:0],
        lambda a: a[0, 0, None][0],
    ],
)
def test_layouts(view: Callable[[Any], Any]) -> None:
    numbers = np.random.default_rng(2)
    x, w = (view(numbers.standard_normal((12, 15))) for _ in range(2))
    before = x.copy(), w.copy()
    compared(mixed, (x, w, 0.3), 1e-13)
    compared(mixed, (x, np.ascontiguousarray(w), 0.3), 1e-13)
    assert np.array_equal(x, before[0]) and np.array_equal(w, before[1])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "args",
    [
        (np.ones(5, np.float32), np.ones(5), 0.3),
        (np.ones(5, np.float32), np.ones(5, np.float32), np.float64(0.3)),
        (np.ones(5), 2.0, np.float32(0.25)),
        (np.array([np.nan, np.inf, -np.inf, 0.0, -0.0]), np.ones(5), 0.3),
        (2.0, 3.0, 0.5),
        (np.array(2.0), np.ones(3), 0.5),
    ],
    ids=["two float types", "a float64 among float32", "a float32 number", "nan and inf", "numbers", "0-d"],
)
def test_kinds(args: tuple[Any, ...]) -> None:
    compared(mixed, args, 1e-13 if args[0] is not None and getattr(args[0], "dtype", None) != np.float32 else 1e-5)


def test_a_choice_of_two_python_floats_is_float64() -> None:
    def stepped(x: Any, c: Any) -> Any:
        return np.sum(np.where(x > c, 1.0, 2.0) * x * np.exp(x))

    compared(stepped, (np.linspace(-1.0, 1.0, 9, dtype=np.float32), np.float32(0.1)), 1e-5)


def test_value_and_gradient_are_one_kernel(launched: list[str]) -> None:
    derived = srcgrad.value_and_grad(mixed, target="opencl")
    derived(np.ones(5), 0.5, 0.3)
    assert len(launched) == 1
    assert "REAL t = tanh(x * w + c);" in derived.source and "// line" in derived.source


def test_sums_are_no_less_exact_than_numpy() -> None:
    x = np.random.default_rng(0).uniform(0.0, 1.0, 3_000_001).astype(np.float32)
    found = launch(kernel(["x"], ["REAL s = SUM(x);", "STORE(s);"]), x)
    exact = np.sum(x.astype(np.float64))
    assert abs(float(found) - exact) <= abs(float(np.sum(x)) - exact) + np.spacing(np.float32(exact))


def test_masks_may_be_booleans(launched: list[str]) -> None:
    def chosen(x: Any, m: Any) -> Any:
        return np.sum(np.where(m, x * x, np.exp(x) * 2.0))

    x, m = np.linspace(-1.0, 1.0, 30).reshape(5, 6), np.arange(30).reshape(5, 6) % 3 == 0
    for mask in (m, m[0], m[:, :1], m[::-1]):
        one = srcgrad.value_and_grad(chosen)(x, mask)
        two = srcgrad.value_and_grad(chosen, target="opencl")(x, mask)
        np.testing.assert_allclose(two[1], one[1], rtol=1e-14)
        np.testing.assert_allclose(two[0], one[0], rtol=1e-14)
    assert launched


def test_results_keep_their_memory_and_give_it_back() -> None:
    square = kernel(["x"], ["REAL y = x * x + 1.0;", "STORE(y);"], "x * x + 1.0")
    x = np.arange(100_000.0)
    first = launch(square, x)
    part = first[10:20]
    del first
    second = launch(square, x + 1.0)
    assert np.array_equal(part, x[10:20] ** 2 + 1.0) and not np.shares_memory(part, second)
    place = second.__array_interface__["data"]
    del second
    assert launch(square, x).__array_interface__["data"] == place


def test_threads_do_not_mix_arguments() -> None:
    derived = srcgrad.grad(mixed, target="opencl")
    arguments = [(np.full(3000, float(k)), 0.5, 0.1 * k) for k in range(8)]
    wanted = [srcgrad.grad(mixed)(*args) for args in arguments]
    found: dict[int, Any] = {}

    def run(k: int) -> None:
        for _ in range(20):
            found[k] = derived(*arguments[k])

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, gradient in enumerate(wanted):
        np.testing.assert_allclose(found[k], gradient, rtol=1e-13)


def test_names_of_c_are_no_names_of_python(launched: list[str]) -> None:
    def clashing(float_: Any, i: Any, at: Any, x_in: Any, long: Any) -> Any:
        row = np.exp(i * at) + float_
        kernel = row * x_in + long
        return np.sum(kernel * kernel)

    compared(clashing, tuple(np.linspace(0.1, 0.5, 7) + k for k in range(5)), 1e-13)
    assert launched


EXPONENTS = [0, 1, 2, 3, 4, 5, -1, -2, -3, 0.5, 1.5, 2.5, -0.5, 1.0 / 3.0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_powers_of_numbers(exponent: float, real: Any, launched: list[str]) -> None:
    f = made(f"power {exponent}", f"def f(x):\n    return np.sum(np.exp(x) * x ** {exponent!r})\n")[0]
    rtol = 1e-6 if real is np.float32 else 1e-14
    compared(f, (np.array([0.3, 0.7, 1.0, 2.0, 5.5], real),), rtol)
    assert launched
    for value in (0.0, -0.0, -1.5, np.inf, -np.inf, np.nan):
        compared(f, (np.array([value, 1.0], real),), rtol)


def test_remainders_of_integers_are_exact() -> None:
    x = np.linspace(0.5, 2.0, 5)
    line = "REAL y = x * remainder(1103515245.0 * n + 12346.0, 7.0);"
    one = kernel(["x", "n"], [line, "STORE(y);"], "x * ((1103515245 * n + 12346) % 7)")
    for n in (20, 2**24 - 1):  # so many times the latter is no float
        np.testing.assert_allclose(launch(one, x, n), x * ((1103515245 * n + 12346) % 7), rtol=1e-15)


def raised(x: Any, y: Any) -> Any:
    return np.sum(np.exp(0.1 * x) * x**y)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_powers_and_their_gradients(real: Any, launched: list[str]) -> None:
    x, y = np.meshgrid(np.array([0.0, 0.3, 1.0, 2.5]), np.array([-2.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.7]))
    compared(raised, (x.astype(real), y.astype(real)), 1e-6 if real is np.float32 else 1e-14)
    assert launched
    compared(raised, (-x.astype(real), np.round(y).astype(real)), 1e-6 if real is np.float32 else 1e-14)
    args = x[0, 1:].astype(real), np.array([2, 3, -1])
    found, wanted = (srcgrad.grad(raised, wrt=0, target=target)(*args) for target in ("opencl", "numpy"))
    assert found.dtype == wanted.dtype  # of floats and integers NumPy makes float64
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_a_function_that_is_always_float64_is_left_to_numpy() -> None:
    def wide(x: Any) -> Any:
        return np.sum(np.float_power(x, 1.5) * np.exp(x) * x)

    x = np.linspace(0.5, 2.0, 50, dtype=np.float32)
    one, two = (srcgrad.value_and_grad(wide, target=target)(x) for target in ("numpy", "opencl"))
    assert one[0].dtype == two[0].dtype == np.float64 and one[1].dtype == two[1].dtype
    np.testing.assert_allclose(two[1], one[1], rtol=1e-6)


def test_the_gradient_of_a_gamma_function_is_one_kernel(launched: list[str]) -> None:
    def likelihood(x: Any, a: Any) -> Any:
        return np.sum(special.gammaln(x + a) - special.gammaln(a) + special.entr(x) + np.arctan2(x, a))

    compared(likelihood, (np.linspace(0.1, 9.0, 100), np.linspace(0.5, 3.0, 100)), 1e-13)
    assert len(launched) == 1


def test_a_name_and_the_one_it_is_changed_to_stay_two(launched: list[str]) -> None:
    def clashing(last: Any, last_: Any, exp: Any, exp_: Any) -> Any:
        row = np.tanh(last * exp_) + last_
        row_ = row * np.exp(exp - last_)
        return np.sum(row_ * row_ + row)

    compared(clashing, tuple(np.linspace(0.1, 0.5, 7) + k for k in range(4)), 1e-13)
    assert launched


def test_gradients_come_on_the_slabs_of_kernels() -> None:
    """Without a copy, and each in memory of its own."""
    x = np.linspace(-1.0, 1.0, 100_000)
    derived = srcgrad.value_and_grad(lambda x, w: np.sum(np.tanh(x * x) + np.tanh(w * w)), wrt=(0, 1), target="opencl")
    _, (first, second) = derived(x, x)
    assert isinstance(first.base, Lease) and isinstance(second.base, Lease)
    first[:] = 0.0
    assert np.any(second) and np.any(derived(x, x)[1][0])


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_the_adjoint_of_a_maximum_is_computed_where_its_seed_is(real: Any, launched: list[str]) -> None:
    """With ties, of which each side has half."""

    def clipped(x: Any, w: Any) -> Any:
        h = np.maximum(x * w, 0.0)
        return np.sum(np.minimum(h * h, w) * np.exp(-h))

    x = np.array([-2.0, -0.0, 0.0, 0.5, 1.0, 2.0, 5.0, 3.0, -4.0], real)
    w = np.array([1.0, 1.0, 0.0, 2.0, 1.0, -1.0, -1.0, 9.0, 2.0], real)
    derived = srcgrad.value_and_grad(clipped, wrt=(0, 1), target="opencl")
    value, found = derived(x, w)
    wanted_value, wanted = srcgrad.value_and_grad(clipped, wrt=(0, 1))(x, w)
    assert launched == ["clipped_kernel_1"] and derived.source.count("launch(") == 1
    np.testing.assert_allclose(value, wanted_value, rtol=1e-5)
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == real
        np.testing.assert_allclose(one, other, rtol=1e-5)
    given = x.astype(np.float64 if real is np.float32 else np.float32)  # of two types: the Python runs
    for one, other in zip(derived(given, w)[1], srcgrad.value_and_grad(clipped, (0, 1))(given, w)[1], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("gpu", [False, True])
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_a_number_that_decides_is_true_where_it_is_not_0(real: Any, gpu: bool) -> None:
    """An argument, a value of the kernel, an expression, a number, and a mask of what an extreme reads."""

    def chosen(x: Any, y: Any) -> Any:
        z = np.floor(y)
        s = np.where(y, np.sin(x), x * x) + np.where(z, x, x * x) + np.where(y * z, x, np.cos(x))
        return np.sum(s * np.where(np.max(y), x, 1.0))

    def extreme(x: Any, y: Any) -> Any:
        w = x * np.exp(-np.sqrt(x + 0.5))
        t = y[0] - np.sum(w[:, None] * w[:, None], axis=1)
        return np.sum(np.max(t[:, None] * y, axis=1, keepdims=True) * x[:, None])

    def in_place(x: Any, y: Any) -> Any:
        v = x * x
        v[1:] += np.where(y[1:], np.sin(x[1:]), y[:-1])
        return np.sum(v * v)

    x, y = np.array([0.5, 0.2, 0.7], real), np.array([0.0, 1.0, 2.0], real)
    with form(gpu):
        for function in (chosen, extreme, in_place):
            found = srcgrad.grad(function, wrt=(0, 1), target="opencl")(x, y)
            for one, other in zip(found, srcgrad.grad(function, wrt=(0, 1))(x, y), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12 if real is np.float64 else 1e-5)
