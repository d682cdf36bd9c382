"""Functions that only a run knows: their derivatives are looked up, are those of the function met, and are not kept."""

from __future__ import annotations

import functools
import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.api import derivatives
from srcgrad.runtime import adjoint_of, pullback_of, pushforward_of, reads_only, tangent_of

X = np.array([0.3, -0.7, 1.1])
Layer = Callable[..., Any]


def own(x: Any) -> Any:
    return x * np.sin(x)


def through(x: Any, layers: list[Layer]) -> Any:
    for layer in layers:
        x = layer(x)
    return np.sum(x)


def made(w: Any) -> Layer:
    def scaled(h: Any) -> Any:
        return np.tanh(w * h)

    return scaled


class Scale:
    def __init__(self, k: float) -> None:
        self.k = k

    def __call__(self, h: Any) -> Any:
        return self.k * np.tanh(h)

    @property
    def slope(self) -> float:
        return 2.0 * self.k

    def apply(self, h: Any) -> Any:
        return self.slope * h * h


class Other(Scale):
    def __call__(self, h: Any) -> Any:
        return h + super().__call__(h)


def slopes(f: Layer, x: Any, *args: Any) -> Any:
    """Central differences."""
    return np.array([(f(x + 1e-6 * e, *args) - f(x - 1e-6 * e, *args)) / 2e-6 for e in np.eye(len(x))])


LAYERS: dict[str, list[Layer]] = {
    "functions": [own, np.tanh, lambda h: h * h, np.square],
    "closures": [made(0.5), made(X), made(-0.5)],
    "partials": [functools.partial(np.multiply, X), functools.partial(own), functools.partial(own, x=X) and own],
    "objects": [Scale(0.7), Other(1.3), Scale(-0.4)],
    "methods": [Scale(0.7).apply, Other(1.3).apply, Other(0.3).__call__],
    "one twice": [own, np.sin, own],
    "a gradient": [srcgrad.grad(lambda h: np.sum(h**3)), np.sin],
}


@pytest.mark.parametrize("name", LAYERS)
def test_all_modes(name: str) -> None:
    layers, v = LAYERS[name], np.array([0.4, 1.0, -0.8])
    gradient = srcgrad.grad(through)
    want = slopes(through, X, layers)
    np.testing.assert_allclose(gradient(X, layers), want, atol=1e-7)
    np.testing.assert_allclose(srcgrad.jacobian(through, mode="forward")(X, layers), want, atol=1e-7)
    second = np.array([gradient(X + 1e-6 * e, layers) - gradient(X - 1e-6 * e, layers) for e in np.eye(3)]) / 2e-6
    np.testing.assert_allclose(srcgrad.hvp(through)(X, layers, v), second @ v, atol=1e-6)
    np.testing.assert_allclose(srcgrad.hessian(through)(X, layers), second, atol=1e-6)
    twice = srcgrad.jvp(lambda x: srcgrad.jvp(lambda z: through(z, layers), (x,), (v,))[1], (X,), (v,))[1]
    np.testing.assert_allclose(twice, v @ second @ v, atol=1e-6)


def test_the_text_is_as_one_would_write_it() -> None:
    text = srcgrad.source(through, wrt="x")
    assert "x, layer_back = pullback_of(layer)(x)" in text
    assert "x_bar = layer_back(x_bar)" in text


def test_arguments_by_place_and_by_name() -> None:
    def total(x: Any, functions: list[Layer]) -> Any:
        y = 0.0
        for k, function in enumerate(functions):
            y = y + np.sum(function(x, k) * function(2.0, b=x))
        return y

    functions: list[Layer] = [lambda a, b: a * b, lambda a, b=1: a + 3.0 * b]
    np.testing.assert_allclose(srcgrad.grad(total)(X, functions), slopes(total, X, functions), atol=1e-7)
    text = srcgrad.source(total, wrt="x")
    assert "wrt=(0,))(x, k)" in text and 'wrt=("b",))(2.0, b=x)' in text


def test_values_of_several_parts() -> None:
    def total(x: Any, functions: list[Layer]) -> Any:
        y = 0.0
        for function in functions:
            a, b = function(x)
            y = y + np.sum(a) * np.sum(b * b)
        return y

    functions: list[Layer] = [lambda h: (h[:1], h[1:]), lambda h: (np.sin(h), h), lambda h: np.stack([h, h * h])]
    np.testing.assert_allclose(srcgrad.grad(total)(X, functions), slopes(total, X, functions), atol=1e-7)
    with pytest.raises(srcgrad.DifferentiationError, match="E5031"):
        srcgrad.hvp(total)(X, functions, X)


def test_two_functions_of_one_text_in_two_modules() -> None:
    """Their code objects are equal: what counts is which one it is."""
    one: dict[str, Any] = {"k": 2.0}
    two: dict[str, Any] = {"k": 3.0}
    text = "def act(x): return x * k"
    for number, module in enumerate((one, two)):
        file = f"<act {number}>"
        exec(compile(text, file, "exec"), module)
        import linecache

        linecache.cache[file] = (len(text), None, [text + "\n"], file)
    assert one["act"].__code__ == two["act"].__code__
    np.testing.assert_allclose(srcgrad.grad(through)(X, [one["act"], two["act"]]), 6.0)


def test_a_wrapper_is_not_what_it_wraps() -> None:
    @functools.wraps(own)
    def doubled(x: Any) -> Any:
        return 2.0 * own(x)

    np.testing.assert_allclose(srcgrad.grad(through)(X, [doubled, np.sin]), slopes(through, X, [doubled, np.sin]), 1e-6)


def test_a_call_looks_up_what_there_is_then() -> None:
    scale = Scale(0.7)
    layers = [scale, np.sin]
    _, old = srcgrad.vjp(through, X, layers, wrt=0)
    before = old(1.0)
    scale.k = 5.0
    layers[1] = np.tanh
    np.testing.assert_allclose(srcgrad.grad(through)(X, layers), slopes(through, X, layers), atol=1e-6)
    np.testing.assert_array_equal(old(1.0), before)
    layers.clear()
    np.testing.assert_array_equal(old(1.0), before)


def test_a_captured_variable_that_changes() -> None:
    factor = 2.0

    def scaled(h: Any) -> Any:
        return factor * h

    gradient = srcgrad.grad(through)
    found = [gradient(X, [scaled, np.positive])[0]]
    factor = 3.0
    found.append(gradient(X, [scaled, np.positive])[0])
    assert found == [2.0, 3.0]


def test_a_function_written_anew() -> None:
    space: dict[str, Any] = {"np": np}
    found = []
    for k in (2.0, 3.0):
        text = f"def act(x): return x * {k}"
        exec(compile(text, f"<anew {k}>", "exec"), space)
        import linecache

        linecache.cache[f"<anew {k}>"] = (len(text), None, [text + "\n"], f"<anew {k}>")
        found.append(srcgrad.grad(through)(X, [space["act"], np.positive])[0])
    assert found == [2.0, 3.0]


def test_code_of_a_function_exchanged() -> None:
    def act(h: Any) -> Any:
        return 2.0 * h

    def other(h: Any) -> Any:
        return 3.0 * h

    gradient = srcgrad.grad(through)
    assert gradient(X, [act, np.positive])[0] == 2.0
    act.__code__ = other.__code__
    assert gradient(X, [act, np.positive])[0] == 3.0


def test_nothing_is_kept_of_a_function_that_is_gone() -> None:
    alive = []
    for k in range(5):
        layer = made(float(k))
        y, back = pullback_of(layer)(X)
        back(y)
        alive.append(weakref.ref(layer))
    del layer
    gc.collect()
    assert [one() for one in alive] == [None] * 5
    assert len(derivatives._OTHERS) <= derivatives.KEPT


def test_a_function_by_its_own_name_is_let_go() -> None:
    def recursive(n: int) -> Layer:
        def power(h: Any, k: int = 2) -> Any:
            return h if k == 0 else h * power(h, k - 1)

        return power

    layer = recursive(2)
    gone = weakref.ref(layer)
    value = srcgrad.grad(through)(X, [layer, np.sin])
    np.testing.assert_allclose(value, slopes(through, X, [layer, np.sin]), atol=1e-7)
    assert gone() is layer


def test_integers_are_constants() -> None:
    y, back = pullback_of(lambda a, n: a * n)(2.0, 3)
    assert (y, back(1.0)) == (6.0, (3.0, 0.0))
    y, back = pullback_of(lambda n: n * 2)(3)
    assert (y, back(1.0)) == (6, 0.0)
    assert pushforward_of(lambda a, n: a * n, 1.0, 5.0)(2.0, 3) == (6.0, 3.0)


def test_derivatives_in_texts_that_are_differentiated_once_more() -> None:
    def cube(x: Any, k: Any) -> Any:
        return k * x**3

    assert adjoint_of(cube, (0,))(1.0, 2.0, 5.0) == 60.0
    assert tangent_of(cube, (0, 1))(1.0, 1.0, 2.0, 5.0) == 68.0
    y, y_dot = pushforward_of(adjoint_of(cube, (0,)), 0.0, 1.0, wrt=(0, 1))(1.0, 2.0, k=5.0)
    assert (y, y_dot) == (60.0, 60.0)
    y, back = pullback_of(tangent_of(cube, (0,)), (0, 1))(1.0, 2.0, 5.0)
    assert (y, back(1.0)) == (60.0, (60.0, 60.0))


def refusal(function: Layer, *args: Any) -> str:
    with pytest.raises(srcgrad.DifferentiationError) as caught:
        srcgrad.grad(function)(*args)
    return str(caught.value)


def test_a_refusal_tells_its_place() -> None:
    def unknown(h: Any) -> Any:
        return h.tobytes()

    found = refusal(through, X, [np.sin, unknown])
    assert "h.tobytes()" in found and "test_functions_looked_up.py" in found


@pytest.mark.parametrize(
    "layer, code",
    [
        (lambda h: [h], "E5031"),
        (lambda h: {"h": h}, "E5031"),
        (lambda h: h * 1j, "E5031"),
        (lambda *hs: hs[0], "E5031"),
        (Scale, "E5031"),
        (lambda h: None, "E5005"),
        (sys.getsizeof, "E5003"),
        (np.ndarray.sort, "E5001"),
    ],
)
def test_what_cannot_be_right(layer: Layer, code: str) -> None:
    assert refusal(through, X, [np.sin, layer]).startswith(code)


def test_nothing_that_a_function_changes_is_lost() -> None:
    kept: list[Any] = []

    class Memory:
        def __init__(self) -> None:
            self.h = np.ones(3)

        def attribute(self, h: Any) -> Any:
            self.h = h * self.h
            return self.h

        def array(self, h: Any) -> Any:
            self.h[:] = h
            return 2.0 * self.h

    def listed(h: Any) -> Any:
        kept.append(h)
        return h

    def counted() -> Layer:
        n = 0.0

        def count(h: Any) -> Any:
            nonlocal n
            n += 1.0
            return n * h

        return count

    def written(h: Any) -> Any:
        h[0] = 1.0
        return h

    def added(h: Any) -> Any:
        h += 1.0
        return h

    def out(h: Any) -> Any:
        return np.multiply(h, 2.0, out=h)

    memory, x = Memory(), X.copy()
    for layer in (memory.attribute, memory.array, listed, counted(), written, added, out):
        assert refusal(through, x, [np.positive, layer, layer])[:5] in ("E5005", "E5006", "E5010", "E5032")
    assert kept == [] and np.array_equal(memory.h, np.ones(3)) and np.array_equal(x, X)


def test_what_is_written_later_was_not_given_to_it() -> None:
    def over(x: Any, layers: list[Layer]) -> Any:
        a = np.array(x)
        y = 0.0
        for layer in layers:
            y = y + np.sum(layer(a))
            a[0] = 2.0
        return y * np.sum(a)

    layers = [np.sin, np.square]
    np.testing.assert_allclose(srcgrad.grad(over)(X, layers), slopes(over, X, layers), atol=1e-7)


def test_threads() -> None:
    layers: list[Layer] = [own, made(0.5), Scale(0.7), Other(1.3).apply, np.tanh]
    want, found = slopes(through, X, layers), []

    def work() -> None:
        for _ in range(20):
            found.append(srcgrad.grad(through)(X, [*layers]))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 40
    for one in found:
        np.testing.assert_allclose(one, want, atol=1e-7)


def test_a_dumped_text_looks_up_as_well(tmp_path: Path) -> None:
    model = tmp_path / "model.py"
    model.write_text(
        "import numpy as np\n\n\ndef own(h):\n    return h * np.sin(h)\n\n\n"
        "def f(x, k):\n    layers = [own, np.tanh]\n    return np.sum(layers[k](x))\n"
    )
    made = tmp_path / "made.py"
    dump = [sys.executable, "-m", "srcgrad", "dump", f"{model}:f"]
    subprocess.run([*dump, "-o", str(made)], check=True)
    script = "import made, numpy as np; print(made.f_grad(np.array([0.5]), 0)[0], made.f_grad(np.array([0.5]), 1)[0])"
    shown = subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path, capture_output=True, text=True)
    want = [np.sin(0.5) + 0.5 * np.cos(0.5), 1.0 - np.tanh(0.5) ** 2]
    np.testing.assert_allclose(list(map(float, shown.stdout.split())), want)
    for option in (["--standalone"], ["--target", "opencl"], ["--target", "numba"]):
        refused = subprocess.run([*dump, *option], capture_output=True, text=True)
        assert refused.stderr.startswith("E5031") and refused.returncode


def test_a_parameter_that_is_called_is_no_number(tmp_path: Path) -> None:
    model = tmp_path / "model.py"
    model.write_text("def f(x, fs, g, table):\n    for f in fs:\n        x = f(g(x))\n    return table['k'](x)\n")
    shown = subprocess.run(
        [sys.executable, "-m", "srcgrad", "dump", f"{model}:f"], check=True, capture_output=True, text=True
    )
    assert "with respect to x." in shown.stdout


def test_blocks_of_rows_cannot_look_up() -> None:
    def loss(w: Any, x: Any, layers: list[Layer]) -> Any:
        h = x @ w
        for layer in layers:
            h = layer(h)
        return np.sum(h)

    blocked = srcgrad.blocked(loss, over="x")
    with pytest.raises(srcgrad.DifferentiationError):
        srcgrad.grad(blocked)(np.ones(2), np.ones((5, 2)), [np.sin, np.tanh])


def first_is_large(v: Any) -> Any:
    return v[0] > 0.2


def overwrites(v: Any) -> Any:
    v[0] = 5.0
    return True


def grows(v: Any) -> Any:
    v.append(1.0)
    return True


def counted(x: Any, tests: list[Layer]) -> Any:
    y = x * 1.0
    n = 0.0
    for test in tests:
        k = test(y)
        if k:
            n += 1.0
    return np.sum(y * y) * n


def doubled_where(x: Any, tests: list[Layer]) -> Any:
    y = x * 1.0
    for test in tests:
        if test(y):
            y = y * 2.0
    return np.sum(y * y)


@pytest.mark.parametrize("function", [counted, doubled_where])
@pytest.mark.parametrize("tests", [[first_is_large, overwrites], [overwrites, first_is_large]])
def test_a_test_that_writes_into_what_it_looks_at(function: Layer, tests: list[Layer]) -> None:
    """Nothing is made of the derivative of what a condition asks; what it wrote was there in the backward half."""
    srcgrad.check_grads(lambda x: function(x, [first_is_large, np.any]), (X,), order=2)
    for call in (lambda: srcgrad.grad(function)(X, tests), lambda: srcgrad.hvp(function)(X, tests, X)):
        with pytest.raises(srcgrad.DifferentiationError) as found:
            call()
        assert found.value.code == "E5032"
    assert X[0] == 0.3


def test_what_only_reads_may_not_write() -> None:
    held = [np.ones(2)]
    assert reads_only(len)(held) == 1 and reads_only(np.copy)(held[0]).flags.writeable
    sorts, updates = (lambda v: v[0].sort()), (lambda d: d.update(a=1))
    for bad, given in ((grows, held), (overwrites, held[0]), (updates, {}), (sorts, held)):
        with pytest.raises(TypeError, match="E5032"):
            reads_only(bad)(given)
    with pytest.raises(ValueError, match="could not convert"):
        reads_only(float)("mine")
    assert held[0].flags.writeable
