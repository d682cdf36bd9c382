"""Writes into parts of arrays by kernels: what NumPy does with the same statements, element for element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.opencl.launch import launch
from tests.random.targets import form
from tests.templates.rule_cases import every

DRAW = np.random.default_rng(11).standard_normal


def heat(u, c, steps):
    for _ in range(steps):
        u[1:-1, 1:-1] = u[1:-1, 1:-1] + c * (
            u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
        )
    return np.sum(u * u)


def wave(u, c, steps):
    v = np.zeros_like(u)
    for _ in range(steps):
        v[1:-1] += c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u += c * v * v
    return np.sum(np.sin(u) * v)


def edges(u, c, steps):
    for _ in range(steps):
        u[0, :] = u[1, :] * c + u[2, :]
        u[:, -1] = u[:, -2] * c - u[:, 0]
        u[1:, :-1] += u[:-1, 1:] * c * u[:-1, :-1]
    return np.sum(u * u)


def rows_and_columns(u, c, steps):
    for _ in range(steps):
        u[1:-1, :] = u[1:-1, :] + c * np.tanh(u[2:, :] * u[:-2, :])
        u[:, 1:-1] -= c * (u[:, 2:] * u[:, :-2])
    return np.sum(u)


def every_second(u, c, steps):
    for _ in range(steps):
        u[::2] = np.cos(u[::2]) * c + u[::2]
        u[1::2] += u[:-1:2] * u[:-1:2] * c
    return np.sum(u)


def broadcast(u, c, steps):
    for _ in range(steps):
        u[1:, 1:] += np.exp(u[0, 1:]) * c - u[0, 1:]
        u[:, :1] = u[:, 1:2] * c + u[:, 2:3] * u[:, 1:2]
    return np.sum(u * u)


def cubes(u, c, steps):
    for _ in range(steps):
        u[1:-1, 1:-1, 1:-1] = u[:-2, 1:-1, 1:-1] * c + u[1:-1, 2:, 1:-1] * u[1:-1, 1:-1, :-2]
    return np.sum(u * u)


REALS = (np.float64, np.float32)
PROGRAMS: list[tuple[Callable[..., Any], tuple[int, ...]]] = [
    (heat, (5, 7)), (heat, (3, 3)), (heat, (130, 200)), (wave, (40,)), (wave, (50_000,)), (edges, (4, 5)),
    (edges, (70, 90)), (rows_and_columns, (6, 5)), (rows_and_columns, (90, 80)), (every_second, (10,)),
    (every_second, (20_000,)), (broadcast, (4, 6)), (broadcast, (90, 120)), (cubes, (4, 5, 6)), (cubes, (20, 21, 22)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "shape", "real"),
    [(*p, r) for k, p in enumerate(PROGRAMS) for r in REALS if every() or r is REALS[k % 2]],
    ids=lambda item: getattr(item, "__name__", str(item)),
)
def test_as_numpy(function: Callable[..., Any], shape: tuple[int, ...], real: Any, launched: list[str]) -> None:
    u = (DRAW(shape) * 0.3).astype(real)
    given = u.copy()
    value, gradient = srcgrad.value_and_grad(function, target="opencl")(u, 0.1, 3)
    wanted_value, wanted = srcgrad.value_and_grad(function)(u, 0.1, 3)
    assert launched
    rtol = 1e-12 if real is np.float64 else 1e-4
    np.testing.assert_allclose(value, wanted_value, rtol=rtol)
    np.testing.assert_allclose(gradient, wanted, rtol=rtol, atol=rtol)
    assert gradient.dtype == real and type(value) is type(wanted_value)
    np.testing.assert_array_equal(u, given)


def test_a_step_of_the_heat_equation_is_one_kernel_forward_and_one_back(launched: list[str]) -> None:
    srcgrad.value_and_grad(heat, target="opencl")(DRAW((20, 20)), 0.1, 7)
    assert sorted(map(launched.count, set(launched))) == [1, 7, 7]  # the sum and its adjoint are one kernel


def diffused(u, c, steps):
    for _ in range(steps):
        change = u[2:] - 2.0 * u[1:-1] + u[:-2]
        u[1:-1] += c * change
    return np.sum(u * u)


def test_a_sum_between_what_is_computed_and_what_is_written_does_not_part_them(launched: list[str]) -> None:
    u = DRAW((20, 20))
    value, (u_bar, c_bar) = srcgrad.value_and_grad(diffused, (0, 1), target="opencl")(u, 0.1, 7)
    assert sorted(map(launched.count, set(launched))) == [1, 7, 7]
    wanted_value, wanted = srcgrad.value_and_grad(diffused, (0, 1))(u, 0.1, 7)
    np.testing.assert_allclose(value, wanted_value, rtol=1e-12)
    np.testing.assert_allclose(u_bar, wanted[0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(c_bar, wanted[1], rtol=1e-11)  # products of either sign are summed


def measured(u, c, steps):
    total = 0.0
    for _ in range(steps):
        change = c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        total += np.sum(change * change) * np.sum(u)
        u[1:-1] += change
    return total


def test_a_number_that_reads_the_array_before_it_is_written_is_computed_before(launched: list[str]) -> None:
    u = DRAW(50)
    value, (u_bar, c_bar) = srcgrad.value_and_grad(measured, (0, 1), target="opencl")(u, 0.1, 4)
    wanted_value, wanted = srcgrad.value_and_grad(measured, (0, 1))(u, 0.1, 4)
    assert launched
    np.testing.assert_allclose(value, wanted_value, rtol=1e-12)
    np.testing.assert_allclose(u_bar, wanted[0], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(c_bar, wanted[1], rtol=1e-11)


@pytest.mark.parametrize("function", [heat, wave, edges])
def test_kernels_for_gpus_leave_parts_to_the_host(function: Callable[..., Any]) -> None:
    u = DRAW((6, 7)) * 0.3
    with form(True):
        found = srcgrad.grad(function, target="opencl")(u, 0.1, 3)
    np.testing.assert_allclose(found, srcgrad.grad(function)(u, 0.1, 3), rtol=1e-12)


def parts() -> Callable[..., Any]:
    """A kernel that writes into parts u, v and w of one array, with what it stands for."""

    def function(u: Any, v: Any, w: Any, x: Any) -> Any:
        twice = x * 2.0
        u[...] = twice
        v += twice
        w += -x * 3.0

    lines = ["Of each element:", "REAL twice = x * 2.0;", "SET(u; twice);", "ADD(v; twice);", "ADD(w; -x * 3.0);"]
    function.__doc__ = "\n".join(lines)
    return function


VIEWS: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    "transposed": lambda x: (x.T[1:-1, 1:-1], x.T[:-2, 2:], x.T[2:, :-2]),
    "mixed orders": lambda x: (x[:6, :6], x.T[:6, :6], x[2:8, 2:8]),
    "backwards": lambda x: (x[::-1], x, x),
    "one row": lambda x: (x[1:2], x[:1], x[1:][:1]),
    "corners": lambda x: (x[:3, :3], x[-3:, -3:], x[:3, -3:]),
    "wrapping": lambda x: (x[:-1, -2:], x[1:, :2], x[:-1, 3:5]),
    "overlapping": lambda x: (x[0:5], x[3:8], x[4:9]),
    "columns": lambda x: (x[:, 0], x[:, -1], x[:, 3]),
    "row and column": lambda x: (x[0, :9], x[:9, 0], x[3, :9]),
    "spaced": lambda x: (x[::2, ::3], x[::2, ::3], x[::2, ::3]),
    "flat": lambda x: (x.reshape(-1)[5:-5], x.reshape(-1)[:-10], x.reshape(-1)[10:]),
    "cut": lambda x: (x.reshape(-1)[5:-5:2], x.reshape(-1)[:-10:2], x.reshape(-1)[10::2]),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    ("shape", "narrow"),
    [(s, n) for s in [(9, 9), (10, 13), (200, 310)] for n in (False, True) if every() or n is (s == (10, 13))],
)
def test_parts(view: str, shape: tuple[int, ...], narrow: bool) -> None:
    x = DRAW(shape)
    wanted = x.copy()
    e = DRAW(VIEWS[view](x)[0].shape)
    e = e[..., :1].copy() if narrow else e
    parts()(*VIEWS[view](wanted), e)
    launch(parts(), *VIEWS[view](x), e)
    np.testing.assert_array_equal(x, wanted)


@pytest.mark.parametrize(
    ("view", "runs"), [("corners", True), ("wrapping", True), ("columns", True), ("backwards", False)]
)
def test_which_parts_kernels_write(view: str, runs: bool, launched: list[str]) -> None:
    x = DRAW((9, 9))
    launch(parts(), *VIEWS[view](x), np.ones(VIEWS[view](x)[0].shape))
    assert bool(launched) is runs


def test_what_may_not_be_written_is_refused_as_by_numpy() -> None:
    x = DRAW((9, 9))
    x.flags.writeable = False
    whole = x.copy()
    with pytest.raises(ValueError, match="read-only"):
        launch(parts(), x[1:], x[:-1], x[1:], np.ones((8, 9)))
    x.flags.writeable = True
    with pytest.raises(ValueError, match="broadcast"):
        launch(parts(), x[1:], x[:-1], x[1:], np.ones((7, 9)))
    np.testing.assert_array_equal(x, whole)


def test_one_kernel_for_parts_that_lie_differently(launched: list[str]) -> None:
    kernel = parts()
    for at in ((0, 1, 2), (2, 1, 0), (1, 1, 1), (3, 0, 3)):
        x = DRAW((40, 50))
        wanted = x.copy()
        e = DRAW((30, 40))
        parts()(*(wanted[k : k + 30, k : k + 40] for k in at), e)
        launch(kernel, *(x[k : k + 30, k : k + 40] for k in at), e)
        np.testing.assert_array_equal(x, wanted)
    (prepared,) = kernel.srcgrad_kernel.known.values()
    assert len(launched) == 4 and len(prepared.direct.together.known) == 4


def step() -> Callable[..., Any]:
    """A kernel that writes into u and v what it computes of p, q and w, all of which may be parts of one array."""

    def function(u: Any, v: Any, p: Any, q: Any, w: Any, z: Any) -> Any:
        t = p * q - z * w
        s = np.sum(t * p)
        u += z * t
        v[...] = t * 0.5
        return t, s

    lines = ["Of each element:", "REAL t = p * q - z * w;", "REAL s = SUM(t * p);", "ADD(u; z * t);"]
    function.__doc__ = "\n".join([*lines, "SET(v; t * 0.5);", "STORE(t);", "STORE(s);"])
    return function


OPERANDS: dict[str, Callable[[Any, Any], tuple[Any, ...]]] = {
    "around": lambda x, y: (x[1:-1, 1:-1], x[:-2, 2:], x[2:, 1:-1], x[1:-1, :-2], x[:-2, 1:-1]),
    "behind": lambda x, y: (x[5:, 3:], x[5:, :-3], x[:-5, 3:], x[:-5, :-3], x[2:-3, 1:-2]),
    "before": lambda x, y: (x[:-5, 3:], x[1:-4, 3:], x[5:, :-3], x[4:-1, 3:], y[:-5, 3:]),
    "elsewhere": lambda x, y: (x[1:], x[:-1], y[1:], y[:-1], y[1:]),
    "across": lambda x, y: (x[:9, :9], x[1:10, :9], x.T[:9, :9], y[:9, :9], y.T[:9, :9]),
    "a row": lambda x, y: (x[1:], x[1:], x[3], x[1:, 2:3], y[1:]),
    "wrapping": lambda x, y: (x[:-1, -2:], x[1:, :2], x[:-1, 3:5], x[1:, 1:3], y[1:, :2]),
    "flat": lambda x, y: (x.reshape(-1)[2:-2], x.reshape(-1)[:-4], x.reshape(-1)[4:], x.reshape(-1)[1:-3], y[0, 0]),
    "one array": lambda x, y: (x, x, x, x, y),
    "backwards": lambda x, y: (x[1:], x[1:], x[:0:-1], x[1:, ::-1], y[1:]),
}


@pytest.mark.parametrize("operands", OPERANDS)
@pytest.mark.parametrize("shape", [(11, 12), (60, 90)])
def test_what_is_read_of_the_array_that_is_written_is_read_before(operands: str, shape: tuple[int, ...]) -> None:
    x, y = DRAW(shape), DRAW(shape)
    kernel = step()
    for around in ((x, y), (y, x), (x, DRAW(shape)), (x, x)):  # the last ones lie otherwise than the first
        copies = {id(one): one.copy() for one in around}
        wanted = step()(*OPERANDS[operands](*(copies[id(one)] for one in around)), 0.3)
        found = launch(kernel, *OPERANDS[operands](*around), 0.3)
        np.testing.assert_allclose(found[0], wanted[0], rtol=1e-12, atol=1e-14)  # products are added in one rounding
        np.testing.assert_allclose(found[1], wanted[1], rtol=1e-11)
        for one in around:
            np.testing.assert_allclose(one, copies[id(one)], rtol=1e-12, atol=1e-14)


def later_read(u, c):
    u[1:] += c * u[:-1] * u[1:]
    s = np.sum(u * u)
    u[:-1] *= c * c * np.sin(u[1:])
    return s + np.sum(u)


def second_name(u, c):
    v = u[1:-1]
    u[2:] += c * v * v + u[2:] * c
    v += c * u[2:] * u[:-2] + c
    return np.sum(u * u) + np.sum(v)


def two_arrays(u, c):
    v = np.zeros_like(u)
    w = np.zeros_like(u)
    v[1:] = u[:-1] * c * u[1:] + c
    w[:-1] = v[1:] * c * u[1:] + c
    v[1:] += w[1:] * c * w[:-1]
    return np.sum(v * w)


def number_before_a_write(u, c):
    s = np.sum(np.sin(u) * u) * u[1]
    u[1:-1] += c * u[2:] * u[:-2] + c
    return s + np.sum(u * u)


def made_here(u, c):
    v = np.sin(u) * c + u
    v[1:] += v[:-1] * c * u[1:]
    return np.sum(v * v)


def two_targets(u, c):
    v = np.zeros_like(u)
    w = np.zeros_like(u)
    t = np.sin(u[1:]) * c * u[1:]
    v[1:] += t
    w[:-1] -= t * c
    return np.sum(v * w)


def elements(u, c):
    u[0] = np.sin(u[1]) * c + u[0]
    u[2] += np.cos(u[0]) * c * u[1]
    return np.sum(u * u)


@pytest.mark.parametrize(
    "function",
    [later_read, second_name, two_arrays, number_before_a_write, made_here, two_targets, elements],
)
@pytest.mark.parametrize("size", [3, 7, 20_000])
def test_order_of_reads_and_writes(function: Callable[..., Any], size: int) -> None:
    u = DRAW(size) * 0.5
    value, gradient = srcgrad.value_and_grad(function, target="opencl")(u, 0.3)
    wanted_value, wanted = srcgrad.value_and_grad(function)(u, 0.3)
    np.testing.assert_allclose(value, wanted_value, rtol=1e-12)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-11, atol=1e-12)


def product_before_a_write(u, w):
    a = u * 2.0 + np.sin(u)
    b = np.exp(u) * a
    t = b @ w
    a[1:] = a[:-1] * b[1:] + np.sin(b[1:])
    s = w @ a
    a[:-1] = np.cos(a[:-1]) * t[1:] * u[:-1] + s[:-1]
    return np.sum(a * t * b)


def test_a_product_waits_behind_no_write_into_what_it_reads() -> None:
    arguments = DRAW(7) * 0.5, DRAW((7, 7))
    found = srcgrad.grad(product_before_a_write, (0, 1), target="opencl")(*arguments)
    for one, wanted in zip(found, srcgrad.grad(product_before_a_write, (0, 1))(*arguments), strict=True):
        np.testing.assert_allclose(one, wanted, rtol=1e-11)


def item_of_an_item(u, x):
    s = np.sin(x)[0][0]
    y = u[0] + np.cos(s)
    x = np.tanh(x @ x.T) + 0.3 * np.outer(x[0], x[1])
    y = y * np.sin(np.sin(x)[0][0])
    return y * np.sum(x)


def test_an_item_is_no_part_whatever_its_temporary_was_called_before() -> None:
    arguments = DRAW(3), DRAW((3, 3))
    found = srcgrad.grad(item_of_an_item, (0, 1), target="opencl")(*arguments)
    for one, wanted in zip(found, srcgrad.grad(item_of_an_item, (0, 1))(*arguments), strict=True):
        np.testing.assert_allclose(one, wanted, rtol=1e-11)
