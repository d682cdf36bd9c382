"""Each pass that improves a text may be left out: the numbers stay the same, and some golden text gets worse."""

from __future__ import annotations

import functools
import zlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any  # passes take trees, which have no types of their own

import gast
import numpy as np
import pytest

import srcgrad
from srcgrad import pipeline
from srcgrad.core.trees import header, statements, walk
from srcgrad.interface.api import derivatives
from srcgrad.interface.check.check import check_grads
from srcgrad.optimise.adjoint_sums import dict_adjoints as adjoint_parts
from srcgrad.optimise.algebra import spread_seed
from srcgrad.optimise.broadcasting import tangent_shapes
from srcgrad.optimise.copies import close_pullback
from srcgrad.optimise.naming import unpack_results
from tests.test_golden import CASES, function_of, parts, wrt_of

# Passes for other kinds of text: differentiated again, checkpointed, in blocks of rows.
ELSEWHERE = {"spread_seed", "dict_adjoints", "tangent_shapes"}
# A pullback is a function inside of another: without `close_pullback` it cannot bind what it brings back.
PASSES = [each.run for each in dict.fromkeys(pipeline.OPTIMISE) if each.run is not close_pullback]


def without(one: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    modes = {mode: tuple(each for each in passes if each.run is not one) for mode, passes in pipeline.MODES.items()}
    monkeypatch.setattr(pipeline, "MODES", modes)
    monkeypatch.setattr(derivatives, "_KEPT", OrderedDict())  # texts of all passes


def gradients(function: Any, flags: dict[str, str]) -> tuple[list[np.ndarray], str]:
    wrt = wrt_of(flags)
    arguments = eval(flags["arguments"], {"np": np})
    derivative = srcgrad.grad(function, wrt)
    try:
        found = derivative(*arguments)
    except srcgrad.DifferentiationError as error:
        assert error.code == "E5007", error  # its output is an array
        return [], ""
    leaves = found if isinstance(wrt, tuple) else (found,)
    return [np.asarray(leaf) for leaf in leaves], derivative.source


@functools.cache
def with_all_passes() -> list[tuple[Path, dict[str, str], str, list[np.ndarray], str]]:
    cases = [(path, *parts(path)[:2]) for path in CASES]
    cases = [(path, flags, source) for path, flags, source in cases if flags.get("mode", "reverse") == "reverse"]
    return [(path, flags, source, *gradients(function_of(flags, source), flags)) for path, flags, source in cases]


@pytest.mark.parametrize("one", PASSES, ids=lambda one: one.__name__)
def test_a_pass_changes_the_text_and_no_number(one: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of half of the texts, and of others until one is another."""
    other_texts: list[str] = []
    before = with_all_passes()
    without(one, monkeypatch)
    drawn = [zlib.crc32(f"{one.__name__} {path.stem}".encode()) % 2 for path, *_ in before]
    for place in sorted(range(len(before)), key=drawn.__getitem__):
        if drawn[place] and other_texts:
            break
        path, flags, source, expected, text = before[place]
        found, other_text = gradients(function_of(flags, source), flags)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-15, err_msg=path.stem)
        other_texts += [path.stem] if other_text != text else []
    assert bool(other_texts) != (one.__name__ in ELSEWHERE)


def turned(x, y, angle):
    return x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle)


def twice_turned(x, w):
    u, v = turned(x, w * x, w)
    u, _ = turned(u, v, w * w)
    return np.sum(u * u)


def grown(x, w):
    for _ in range(3):
        x = np.sin(x * w) * x
    return np.sum(x)


def bent(x, w):
    return np.sum(x * w + np.sin(x))


POINT = np.array([0.4, -0.3, 0.8])


def test_results_of_a_callee_are_unpacked_where_it_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    expected, text = srcgrad.grad(twice_turned, (0, 1))(POINT, 0.7), srcgrad.source(twice_turned, wrt=(0, 1))
    without(unpack_results, monkeypatch)
    for a, b in zip(srcgrad.grad(twice_turned, (0, 1))(POINT, 0.7), expected, strict=True):
        np.testing.assert_array_equal(a, b)
    assert len(srcgrad.source(twice_turned, wrt=(0, 1)).split()) > len(text.split())


def test_a_seed_of_one_is_not_carried_along(monkeypatch: pytest.MonkeyPatch) -> None:
    product = srcgrad.hvp(bent)
    expected, text = product(POINT, 0.7, POINT), product.source
    without(spread_seed, monkeypatch)
    product = srcgrad.hvp(bent)
    np.testing.assert_allclose(product(POINT, 0.7, POINT), expected, rtol=1e-13)
    assert len(product.source.split()) > len(text.split())


def valley(x):
    return np.sum((x[1:] - x[:-1] ** 2) ** 2)


def test_zeros_of_a_second_derivative_need_no_adjoint(monkeypatch: pytest.MonkeyPatch) -> None:
    product = srcgrad.hvp(valley)
    expected, text = product(POINT, 2.0 * POINT), product.source
    without(tangent_shapes, monkeypatch)
    product = srcgrad.hvp(valley)
    np.testing.assert_array_equal(product(POINT, 2.0 * POINT), expected)
    assert len(product.source.split()) > len(text.split())


@dataclass
class Layer:
    gain: np.ndarray
    shift: float


def response(p: Layer, x):
    h = np.tanh(p.gain * x + p.shift)
    return np.sum(h * h * p.gain)


def test_adjoints_of_an_object_are_put_together_before_they_are_differentiated(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, along = Layer(POINT, 0.5), Layer(POINT * POINT, 0.3)
    found = srcgrad.hvp(response, "p")(layer, POINT, along)
    step = [srcgrad.grad(response, "p")(Layer(POINT + e * along.gain, 0.5 + e * 0.3), POINT) for e in (1e-5, -1e-5)]
    np.testing.assert_allclose(found.gain, (step[0].gain - step[1].gain) / 2e-5, rtol=1e-8)
    np.testing.assert_allclose(found.shift, (step[0].shift - step[1].shift) / 2e-5, rtol=1e-8)
    without(adjoint_parts, monkeypatch)
    with pytest.raises(srcgrad.DifferentiationError):  # an object is no argument of `zeros_like` in such a text
        srcgrad.hvp(response, "p")(layer, POINT, along)


def test_what_a_pullback_brings_back_goes_by_names_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    without(close_pullback, monkeypatch)
    _, back = srcgrad.vjp(grown, POINT, 0.7)
    with pytest.raises(UnboundLocalError):
        back(1.0)


def scaled_states(x, w, c, n):
    h = x * c
    for _ in range(n):
        h = h * (c * w)
        h[0] = h[1] * (c + w) + h[0]
    return np.sum(h * h)


def branch_binds(x, c, n):
    s = 0.0
    if n > 100:  # noqa: SIM108
        big = c * 2.0
    else:
        big = c
    for _ in range(n):
        if n > 100:  # noqa: SIM108
            s = s + np.sum(x) * (big * c)
        else:
            s = s + np.sum(x * x) * (c * c)
    return s


def rebound(x, c, n):
    s = 0.0
    k = c
    for i in range(n):
        for _ in range(i):
            s = s + np.sum(np.sin(x)) * (c * k * n) * (c * n)
        k = k * c
    return s * c


def reads_parts(x, w, c, n):
    y = x * 1.0
    s = 0.0
    for _ in range(n):
        z = y * w
        s = s + z[0] * (c * c) + np.sum(z[1:] * (c * c))
    return s


def written_into(x, c, n):
    a = x * c
    for i in range(n):
        a[i] = a[i] * (c * c) + a[0] * (c * c)
    return np.sum(a)


HOSTILE = [
    (scaled_states, (np.array([0.4, -0.3, 0.8]), 0.7, 1.1), "xwc"),
    (branch_binds, (np.array([0.4, -0.3]), 0.7), "xc"),
    (rebound, (np.array([0.4, -0.3]), 0.7), "xc"),
    (reads_parts, (np.array([0.4, -0.3]), np.array([0.2, 0.5]), 0.7), "xwc"),
    (written_into, (np.array([0.4, -0.3, 0.1]), 0.7), "xc"),
]


@pytest.mark.parametrize("trips", [0, 1, 3])
@pytest.mark.parametrize(("function", "arguments", "wrt"), HOSTILE, ids=lambda one: getattr(one, "__name__", ""))
def test_what_a_loop_does_not_change(function: Any, arguments: tuple[Any, ...], wrt: str, trips: int) -> None:
    check_grads(function, (*arguments, trips), wrt=tuple(wrt), order=2)
    expected = srcgrad.grad(function, tuple(wrt))(*arguments, trips)
    for a, b in zip(srcgrad.vjp(function, *arguments, trips)[1](1.0), expected, strict=False):
        np.testing.assert_allclose(a, b, rtol=1e-13)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_no_node_stands_twice_in_a_text(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are spelled anew in their nodes: one that stood twice would be spelled anew twice, as another's name."""

    def watched(one: Callable[..., Any]) -> Callable[..., Any]:
        def run(program: Any, facts: Any) -> Any:
            made = one(program, facts)
            nodes = [n for node in statements(made.block) for part in header(node) for n in walk(part)]
            names = [id(node) for node in nodes if isinstance(node, gast.Name)]
            assert len(set(names)) == len(names), one.__name__
            return made

        return run

    improving = set(pipeline.OPTIMISE)
    modes = {
        mode: tuple(replace(each, run=watched(each.run)) if each in improving else each for each in passes)
        for mode, passes in pipeline.MODES.items()
    }
    monkeypatch.setattr(pipeline, "MODES", modes)
    flags, source, _ = parts(path)
    srcgrad.source(function_of(flags, source), mode=flags.get("mode", "reverse"), wrt=wrt_of(flags))
