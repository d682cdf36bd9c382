"""All that derives takes `target="opencl"`: vjp, jvp, differentiate, source, second order, the command line."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.backend.text.function import SUFFIX
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.cli import MODES, main
from tests.agree import differences

TARGETS = ("opencl", "numpy")


def number(x: Any, w: Any, c: Any) -> Any:
    """A sum, as losses are."""
    t = np.tanh(x * w + c)
    return np.sum(t * np.exp(-x * x) + np.where(x > 0.0, x, 0.1 * w))


def array(x: Any, w: Any, c: Any) -> Any:
    """Elementwise from end to end."""
    t = np.sin(x * c) * w
    return np.sqrt(1.0 + t * t) - x / (2.0 + w * w)


def several(x: Any, w: Any, c: Any) -> Any:
    """A tuple, of an array, a dict and a number."""
    t = np.tanh(x * w + c)
    return t * np.exp(-x * x), {"sum": np.sum(t * x), "mean": np.mean(w * t)}, c * c


def rows(x: Any, w: Any, c: Any) -> Any:
    """A layer: a product with kernels on both sides."""
    h = np.tanh(x @ w.T * c + 0.1)
    return np.sum(np.exp(h) * h * h, axis=0)


def looped(x: Any, w: Any, c: Any) -> Any:
    """Steps of a recurrence."""
    h = np.exp(x) * w
    for _ in range(3):
        h = np.tanh(h * w + c) - 0.5 * h * h
    return np.sum(h * h * x)


def called(x: Any, w: Any, c: Any) -> Any:
    """Calls of functions with source: of one with a loop, and of a short one, which is written out."""
    return array(looped(x, w, c) * x, w, c) * x


FUNCTIONS = [number, array, several, rows, looped, called]
SHAPES = {"flat": ((5, 4), (5, 4)), "row": ((5, 4), (4,)), "column": ((5, 4), (5, 1)), "vector": ((6,), (6,))}
every = pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
of_shapes = pytest.mark.parametrize(
    ("shapes", "real"), list(zip(SHAPES, [np.float32, np.float64, np.float32, np.float64], strict=True))
)


def given(f: Callable[..., Any], shapes: str, real: Any, seed: int = 0) -> tuple[Any, ...]:
    """Arguments of one float type."""
    numbers = np.random.default_rng(seed)
    x, w = (numbers.uniform(-0.9, 0.9, shape).astype(real) for shape in SHAPES[shapes if f is not rows else "flat"])
    return x, w, 0.3


def alike(value: Any, seed: int) -> Any:
    """A value of the structure of another one."""
    numbers = np.random.default_rng(seed)
    if isinstance(value, dict):
        return {k: alike(v, seed + 1) for k, v in value.items()}
    if isinstance(value, tuple):
        return tuple(alike(v, seed + k) for k, v in enumerate(value))
    if isinstance(value, np.ndarray):
        return numbers.standard_normal(value.shape).astype(value.dtype)
    return type(value)(numbers.standard_normal())


def agree(found: Any, wanted: Any, real: Any = np.float64) -> None:
    assert differences(found, wanted, 1e-4 if real is np.float32 else 1e-12) == []


@of_shapes
@every
def test_vjp(f: Callable[..., Any], shapes: str, real: Any, launched: list[str]) -> None:
    args = given(f, shapes, real)
    (y, pull), (y_plain, pull_plain) = (srcgrad.vjp(f, *args, target=target) for target in TARGETS)
    agree(y, y_plain, real)
    before = len(launched)
    assert before
    for seed in (alike(y, 1), alike(y, 2)):
        agree(pull(seed), pull_plain(seed), real)
    assert len(launched) > before or f is rows
    one = srcgrad.vjp(f, *args, wrt="w", target="opencl")[1](alike(y, 1))
    agree(one, pull(alike(y, 1))[1], real)


@of_shapes
@every
def test_jvp(f: Callable[..., Any], shapes: str, real: Any, launched: list[str]) -> None:
    args = given(f, shapes, real)
    found, wanted = (srcgrad.jvp(f, args, alike(args, 3), target=target) for target in TARGETS)
    agree(found, wanted, real)
    assert launched


def test_a_tangent_has_the_shape_of_its_primal_so_one_kernel_does() -> None:
    text = srcgrad.source(array, "forward", target="opencl")
    assert text.count("launch(") == 1


@pytest.mark.parametrize("f", [number, looped], ids=lambda f: f.__name__)
def test_differentiate(f: Callable[..., Any], launched: list[str]) -> None:
    args = given(f, "flat", np.float64)
    decorated, plain = srcgrad.differentiate(f, target="opencl"), srcgrad.differentiate(f)
    assert decorated(*args) == f(*args) and not launched
    for call in (
        lambda d: d.grad(*args),
        lambda d: d.value_and_grad(*args),
        lambda d: d.vjp(*args)[1](1.0),
        lambda d: d.jvp(args, args),
    ):
        launched.clear()
        agree(call(decorated), call(plain))
        assert launched
    assert "launch(" in decorated.source and "launch(" not in plain.source


def test_differentiate_reaches_methods(launched: list[str]) -> None:
    class Model:
        slope = 0.7

        @srcgrad.differentiate(wrt=("x", "c"), target="opencl")
        def loss(self, x: Any, c: Any) -> Any:
            return np.sum(np.tanh(x * self.slope) * np.exp(c * x))

    x = np.linspace(-1.0, 1.0, 9)
    t = np.tanh(0.7 * x)
    gradient = ((0.7 * (1.0 - t * t) + 0.2 * t) * np.exp(0.2 * x), np.sum(t * x * np.exp(0.2 * x)))
    with pytest.raises(DifferentiationError, match="E5002"):
        Model().loss.grad(x, 2)
    found = Model().loss.grad(x, 0.2)
    np.testing.assert_allclose(found[0], gradient[0], rtol=1e-12)
    np.testing.assert_allclose(found[1], gradient[1], rtol=1e-12)
    assert launched


@pytest.mark.parametrize("f", [number, looped], ids=lambda f: f.__name__)
@pytest.mark.parametrize("inner", TARGETS)
def test_second_order(f: Callable[..., Any], inner: str, launched: list[str]) -> None:
    x, w, c = given(f, "flat", np.float64)
    v = alike(x, 7)

    def along(gradient: Any) -> Callable[..., Any]:
        def product(x: Any, w: Any, c: Any) -> Any:
            return np.sum(gradient(x, w, c) * v)

        return product

    wanted = srcgrad.grad(along(srcgrad.grad(f)))(x, w, c)
    outer = srcgrad.grad(along(srcgrad.grad(f, target=inner)), target="opencl")
    agree(outer(x, w, c), wanted)
    assert launched and outer.source.count("launch(") > 1
    agree(srcgrad.jvp(srcgrad.grad(f, target=inner), (x, w, c), (v, 0.0 * w, 0.0), target="opencl")[1], wanted)
    plain = srcgrad.grad(along(srcgrad.grad(f, target="opencl")))
    agree(plain(x, w, c), wanted)
    assert "launch(" not in plain.source


def test_an_unknown_target_is_refused_before_anything_is_parsed() -> None:
    for call in (
        lambda: srcgrad.vjp(np.sum, 1.0, target="cuda"),
        lambda: srcgrad.jvp(np.sum, (1.0,), (1.0,), target="cuda"),
        lambda: srcgrad.source(number, target="cuda"),
        lambda: srcgrad.differentiate(number, target="cuda"),
        lambda: srcgrad.differentiate(target="cuda")(number),
        lambda: srcgrad.value_and_grad(number, target="cuda"),
    ):
        with pytest.raises(DifferentiationError, match="E5019"):
            call()


@pytest.mark.parametrize("mode", MODES)
def test_dump(mode: str, tmp_path: pathlib.Path, launched: list[str]) -> None:
    source, made = tmp_path / "model.py", tmp_path / "made.py"
    text = pathlib.Path(__file__).read_text()
    start, end = text.index("def number("), text.index("def array(")
    source.write_text("import numpy as np\nfrom typing import Any\n\n\n" + text[start:end])
    args = given(number, "flat", np.float64)
    found, counts = [], []
    for target in TARGETS:
        assert main(["dump", f"{source}:number", "--mode", mode, "--target", target, "-o", str(made)]) == 0
        space: dict[str, Any] = {}
        exec(made.read_text(), space)
        made_as = space[f"number_{SUFFIX[mode]}"]
        if mode in ("forward", "hvp"):
            x_dot, w_dot, c_dot = alike(args, 3)
            found.append(made_as(*args, x_dot=x_dot, w_dot=w_dot, c_dot=c_dot))
        elif mode == "vjp":
            value, pull = made_as(*args)
            found.append((value, pull(0.7)))
        else:
            found.append(made_as(*args))
        counts.append(len(launched))
    assert 0 < counts[0] == counts[1]
    agree(*found)
