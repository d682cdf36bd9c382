"""Kernels that put elements together along axes: rows, columns, all; on the loops for CPUs and on those for GPUs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.opencl.devices import device
from srcgrad.opencl.launch import launch
from tests.agree import differences
from tests.opencl.conftest import fewer
from tests.opencl.test_kernels import kernel
from tests.random.targets import form
from tests.templates.rule_cases import every


@pytest.fixture(params=["cpu", "gpu"])
def loops(request: pytest.FixtureRequest) -> Iterator[str]:
    with form(request.param == "gpu"):
        yield str(request.param)


def softmax(x: Any, t: Any) -> Any:
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum(e / np.sum(e, axis=1, keepdims=True) * t)


def softmax_of_methods(x: Any, t: Any) -> Any:
    e = np.exp(x - x.max(axis=-1)[:, None])
    return np.sum(e / e.sum(axis=-1)[:, None] * t)


def centred(x: Any, t: Any) -> Any:
    d = x - np.mean(x, axis=0)
    return np.sum(d * d * t) / np.mean(t * t)


def normal(x: Any, t: Any) -> Any:
    mu = np.mean(x, axis=-1, keepdims=True)
    v = np.mean((x - mu) ** 2, axis=-1, keepdims=True)
    y = (x - mu) / np.sqrt(v + 1e-5) * t[0] + t[1]
    return np.sum(y * y * np.cos(y))


def logsumexp(x: Any, t: Any) -> Any:
    m = np.min(x, axis=1)
    s = m - np.log(np.sum(np.exp(np.expand_dims(m, 1) - x), axis=1))
    return np.mean(s * s) + np.sum(t * t)


def of_columns(x: Any, t: Any) -> Any:
    s = np.sum(np.sin(x) * t, axis=0)
    return np.sum(np.tanh(s) * x[0])


def of_numbers(x: Any, t: Any) -> Any:
    s = np.sum(x * t)
    return np.sum(np.tanh(x * s) * t) + s * np.max(x * t)


def far_away(x: Any, t: Any) -> Any:
    return np.sum(np.sin(16777216.0 * x[:, :1]) * np.cos(x * t))


def far_columns(x: Any, t: Any) -> Any:
    return np.sum(np.sum(np.sin(16777216.0 * x) * t, axis=0) * t[0])


REALS = (np.float32, np.float64)
CASES = [softmax, softmax_of_methods, centred, normal, logsumexp, of_columns, of_numbers, far_away, far_columns]


def same(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    tolerance = 2e-5 if args[0].dtype == np.float32 else 1e-12
    tolerance *= 1e7 if function.__name__.startswith("far") else 1.0  # of the derivative
    tolerance = min(tolerance, 1e-4)
    wanted = srcgrad.value_and_grad(function, wrt=(0, 1))(*args)
    found = srcgrad.value_and_grad(function, wrt=(0, 1), target="opencl")(*args)
    assert type(found[0]) is type(wanted[0])
    np.testing.assert_allclose(found[0], wanted[0], rtol=20 * tolerance)
    for one, two in zip(found[1], wanted[1], strict=True):
        assert one.dtype == two.dtype and one.shape == two.shape
        np.testing.assert_allclose(one, two, rtol=20 * tolerance, atol=tolerance * max(1.0, np.abs(two).max()))


@pytest.mark.parametrize(
    ("function", "real"), [(f, r) for k, f in enumerate(CASES) for r in REALS if every() or r is REALS[k % 2]]
)
def test_axes(function: Callable[..., Any], real: Any, loops: str, launched: list[str]) -> None:
    draw = np.random.default_rng(5).standard_normal
    for shape in [(3, 17), (fewer(37, 6), 16), (fewer(5, 2), 1025), (fewer(300, 20), 2), (1, 9), (9, 1)]:
        args = draw(shape).astype(real), draw(shape if shape[0] > 1 else (2, shape[1])).astype(real)
        same(function, args if args[0].shape == args[1].shape else (args[0], args[1]))
    assert launched


@pytest.mark.parametrize("function", [softmax, of_columns, far_columns])
def test_layouts(function: Callable[..., Any], loops: str, launched: list[str]) -> None:
    x, t = (np.random.default_rng(k).standard_normal((24, 24)) for k in range(2))
    for view in (lambda a: a.T, lambda a: a[::-1], lambda a: a[2:, ::3], lambda a: a[:, 1:-1]):
        same(function, (view(x), view(t)))
    same(function, (x, np.broadcast_to(t[0], t.shape)))
    assert launched


def test_more_axes(loops: str, launched: list[str]) -> None:
    def attended(x: Any, t: Any) -> Any:
        s = x - np.max(x, axis=-1, keepdims=True)
        p = np.exp(s) / np.sum(np.exp(s), axis=-1, keepdims=True)
        return np.sum(p * t) + np.sum(np.mean(p * x, axis=1) * t[:, 0])

    draw = np.random.default_rng(5).standard_normal
    for shape in [(2, 3, 5), (4, 1, 7), (2, 3, 2, 9)]:
        args = draw(shape), draw(shape)
        if len(shape) == 3:
            same(attended, args)
    assert launched


def test_ties_and_nan(loops: str) -> None:
    def peaks(x: Any, t: Any) -> Any:
        return np.sum(np.max(x * x, axis=1) * np.min(t + x, axis=1))

    x = np.array([[1.0, -1.0, 1.0, 0.5], [0.0, 0.0, 0.0, 0.0], [2.0, 1.0, -2.0, 1.0]])
    same(peaks, (x, x[::-1].copy()))
    x[1, 2] = np.nan
    with np.errstate(invalid="ignore"):
        same(peaks, (x, np.zeros_like(x)))


def test_softmax_is_one_kernel(launched: list[str]) -> None:
    derived = srcgrad.value_and_grad(softmax, target="opencl")
    derived(np.ones((4, 5)), np.ones((4, 5)))
    assert len(launched) == 1
    assert "REAL" in derived.source and "= MAX(x; 1, kept);" in derived.source


def test_one_array_for_two_names() -> None:
    """`sum_to` gives back what fits: a result that is changed in place must not show in another."""

    def twice(x: Any, b: Any) -> Any:
        y = np.exp(x + b)
        return np.sum(y * y * x)

    same(twice, (np.linspace(-1.0, 1.0, 12).reshape(3, 4), np.ones((3, 4))))


@pytest.mark.usefixtures("nothing_kept")
def test_lengths_change_without_new_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []
    build = device.Device.build
    monkeypatch.setattr(device.Device, "build", lambda self, *args: built.append(args[1]) or build(self, *args))
    derived = srcgrad.value_and_grad(softmax, target="opencl")
    for rows in range(2, 30):
        derived(np.ones((rows, 3 * rows)), np.ones((rows, 3 * rows)))
    assert len(built) == 1


def test_a_copy_is_an_array_of_its_own() -> None:
    def kept(x: Any, t: Any) -> Any:
        e = np.exp(x * t)
        y = np.positive(e)
        y[0] = 0.0
        return np.sum(e * y * x)

    same(kept, (np.linspace(-1.0, 1.0, 12).reshape(3, 4), np.ones((3, 4))))


def test_a_layer_is_one_launch_of_one_stage(launched: list[str]) -> None:
    def layer(x: Any, w: Any, b: Any) -> Any:
        return np.sum(np.tanh(x * w + b))

    derived = srcgrad.value_and_grad(layer, wrt=(0, 1, 2), target="opencl")
    derived(np.ones((6, 7)), np.ones((6, 7)), np.ones(7))
    (name,) = launched
    kernel = derived.__wrapped__.__globals__[name].srcgrad_kernel
    assert [len(found.runs) for found in kernel.known.values()] == [1]


def turned(x: Any, t: Any) -> Any:
    """Operands of which neighbours along the rows are far apart: brought into pieces."""
    y = np.tanh(x.T) * t + x.T
    return np.sum(y * np.sin(1e7 * t)) + np.sum(np.sum(y * t, axis=0) ** 2) + np.max(y * x.T)


def turned_rows(x: Any, t: Any) -> Any:
    e = np.exp(x.T - np.max(x.T, axis=1, keepdims=True))
    return np.sum(e / np.sum(e, axis=1, keepdims=True) * t)


@pytest.mark.parametrize("function", [turned, turned_rows])
@pytest.mark.parametrize("shape", [(2, 3), (63, 64), (65, 130), (201, 301)])
def test_transposed_operands(function: Callable[..., Any], shape: tuple[int, int], launched: list[str]) -> None:
    x, t = np.random.default_rng(5).standard_normal((2, *shape))
    t = np.ascontiguousarray(t.T)
    value, found = srcgrad.value_and_grad(function, (0, 1), target="opencl")(x, t)
    wanted_value, wanted = srcgrad.value_and_grad(function, (0, 1))(x, t)
    assert launched
    np.testing.assert_allclose(value, wanted_value, rtol=1e-11)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9 * np.max(np.abs(other)))  # of 1e7 in the sine


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_transposed_pieces_are_whole(real: Any, loops: str) -> None:
    draw = np.random.default_rng(5).standard_normal
    one = kernel(["x", "w", "m"], ["REAL y = m ? x : w;", "STORE(y);"])
    for shape in ((2, 3), (7, 16), (8, 17), (257, 15), (300, 31), (700, 40), (4, 33, 260), (2, 3, 9, 20)):
        x = draw((*shape[:-2], 2 * shape[-2], 3 * shape[-1])).astype(real)
        for turned in (x[..., : shape[-2], : shape[-1]], x[..., ::2, ::3]):
            given = np.swapaxes(turned, -1, -2)
            w, mask = draw(given.shape).astype(real), np.swapaxes(turned > 0.3, -1, -2)
            np.testing.assert_array_equal(launch(one, given, w, mask), np.where(mask, given, w))


def of_batches(x: Any, w: Any) -> Any:
    """Sums along the last axis but one, of which some arguments are too large for our sine."""
    return np.sum(np.tanh(np.sum(np.sin(x * w[..., None, :]) * x, axis=-2)) * w)


def test_sums_of_batches(loops: str) -> None:
    random = np.random.default_rng(0)
    x, w = random.normal(size=(7, 5, 12, 70)), random.normal(size=(7, 5, 70))  # so much that groups share it
    x[..., 3, 2] *= 1e6
    turned = np.swapaxes(np.ascontiguousarray(np.swapaxes(x, -1, -2)), -1, -2)
    for given in (x, turned) if loops == "cpu" else (x,):
        found = srcgrad.value_and_grad(of_batches, wrt=(0, 1), target="opencl")(given, w)
        wanted = srcgrad.value_and_grad(of_batches, wrt=(0, 1))(given, w)
        assert differences(found, wanted, 1e-9) == []  # of sines of large numbers


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_sums_of_what_is_large_ask_for_what_comes_next(real: Any) -> None:
    every = np.random.default_rng(3).standard_normal((523, 1021)).astype(real)
    for x in (every, every[:, :701], every[::-1]):  # the last ones end where there is nothing more
        for axis, lines in ((None, "SUM(x)"), (0, "SUM(x; 0)"), (1, "SUM(x; 1)")):
            found = launch(kernel(["x"], [f"REAL s = {lines};", "STORE(s);"]), x)
            wide = x.astype(np.float64)
            error = np.abs(found - wide.sum(axis))
            most = 4.0 * np.finfo(real).eps * np.abs(wide).sum(axis)  # of columns, a group's rows are added one by one
            assert np.all(error <= most)
