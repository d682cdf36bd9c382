"""Functions, values and modules that are exchanged after the first gradient: the next one is of what they are now."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import linecache
import math
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import srcgrad

OLD = "rate = 2.0\ndef g(x):\n    return x * x\ndef h(x):\n    return g(x) * rate\nclass C:\n    s = 1.5\n"
OLD += "    @staticmethod\n    def st(x):\n        return x * x\n    def m(self, x):\n        return x * x * self.s\n"
TEXT = """
import helper
import helper as named
import types
from helper import C, h

rate = 3.0
box = types.SimpleNamespace(act=helper.g)
thing = C()

def own(x):
    return x * x

def f_module(x):
    return helper.h(x)

def f_named(x):
    return named.h(x) + x

def f_inner(x):
    def inner(t):
        return helper.g(t) * t
    return inner(x)

def f_lambda(x):
    return (lambda t: helper.g(t))(x)

def f_import(x):
    import helper as local
    return local.g(x)

def f_from(x):
    from helper import g as local
    return local(x)

def f_own(x):
    return own(x) * x

def f_rate(x):
    return x * x * rate + x * helper.rate

def f_static(x):
    return helper.C.st(x) + C.st(x)

def f_method(x):
    return thing.m(x)

def f_loop(x):
    for _ in range(2):
        x = helper.g(x)
    return x

def f_second(x):
    second = helper.g
    return second(x) * x

def f_gradient(x):
    return srcgrad.grad(helper.g)(x) * x

def f_default(x, g=2.0):
    return x * x * g

def f_sub(x):
    return helper.sub.g(x)

def f_deep(x):
    return helper.deep(x)
"""


def cube(x: Any) -> Any:
    return x * x * x


def _modules(folder: Path) -> tuple[types.ModuleType, dict[str, Any]]:
    helper, sub = types.ModuleType("helper"), types.ModuleType("helper.sub")
    for module, text in ((helper, OLD + "def deep(x):\n    return sub.g(x)\n"), (sub, OLD)):
        path = folder / f"{module.__name__}.py"
        path.write_text(text)
        exec(compile(text, str(path), "exec"), module.__dict__)
    helper.sub = sub  # type: ignore[attr-defined]
    file = f"<patched {folder.name}>"
    linecache.cache[file] = (len(TEXT), None, TEXT.splitlines(keepends=True), file)
    names: dict[str, Any] = {"srcgrad": srcgrad}
    sys.modules["helper"], sys.modules["helper.sub"] = helper, sub
    exec(compile(TEXT, file, "exec"), names)
    return helper, names


def _holding(**names: Any) -> types.ModuleType:
    module = types.ModuleType("another")
    vars(module).update(names)
    return module


CHANGES: dict[str, Callable[[Any, dict[str, Any]], None]] = {
    "g": lambda helper, names: setattr(helper, "g", cube),
    "h": lambda helper, names: setattr(helper, "h", cube),
    "rate": lambda helper, names: setattr(helper, "rate", 7.0),
    "own": lambda helper, names: names.update(own=cube, rate=0.3),
    "static": lambda helper, names: setattr(helper.C, "st", staticmethod(cube)),
    "method": lambda helper, names: setattr(helper.C, "m", lambda self, x: x * x * x),
    "field": lambda helper, names: setattr(helper.C, "s", 4.0),
    "code": lambda helper, names: setattr(helper.g, "__code__", cube.__code__),
    "sub": lambda helper, names: setattr(helper, "sub", _holding(g=cube)),
    "in_sub": lambda helper, names: setattr(helper.sub, "g", cube),
    "module": lambda helper, names: names.update(helper=_holding(g=cube, h=cube, rate=1.5)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_exchanged_is_differentiated_anew(change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "helper", types.ModuleType("helper"))
    monkeypatch.setitem(sys.modules, "helper.sub", types.ModuleType("helper.sub"))
    helper, names = _modules(tmp_path)
    functions = {name: f for name, f in names.items() if name.startswith("f_")}
    gradients = {name: srcgrad.value_and_grad(f) for name, f in functions.items()}
    for name, f in functions.items():
        _check(name, f, gradients[name])
    CHANGES[change](helper, names)
    for name, f in functions.items():
        try:
            f(1.3)
        except AttributeError:
            continue  # of what stands for the module
        _check(name, f, gradients[name])


def _check(name: str, f: Callable[[float], float], gradient: Any) -> None:
    right = (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6
    value, slope = gradient(1.3)
    assert np.isclose(value, f(1.3)), (name, value, f(1.3))
    assert np.isclose(slope, right, rtol=1e-6), (name, slope, right)
    assert np.isclose(srcgrad.jvp(f, (1.3,), (1.0,))[1], right, rtol=1e-6), name
    assert np.isclose(srcgrad.vjp(f, 1.3)[1](1.0)[0], right, rtol=1e-6), name


def test_a_module_that_is_reloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path = tmp_path / "reloaded_helper.py"
    path.write_text("def g(x):\n    return x * x\n")
    module: Any = importlib.import_module("reloaded_helper")

    def f(x: float) -> Any:
        return module.g(x)

    gradient = srcgrad.grad(f)
    assert gradient(3.0) == 6.0
    path.write_text("def g(x):\n    return x * x * x  # another one\n")
    importlib.reload(module)
    assert gradient(3.0) == 27.0
    monkeypatch.delitem(sys.modules, "reloaded_helper")


def numpy_call(x: Any) -> Any:
    return np.sum(np.tanh(x) * x)


def numpy_name(x: Any) -> Any:
    squash = np.tanh
    return np.sum(squash(x))


def numpy_import(x: Any) -> Any:
    from numpy import tanh

    return np.sum(tanh(x))


def numpy_import_as(x: Any) -> Any:
    import numpy as xp

    return xp.sum(xp.tanh(x))


def numpy_helper(x: Any) -> Any:
    return numpy_call(x) + np.sum(np.exp(x))


@pytest.mark.parametrize("f", [numpy_call, numpy_name, numpy_import, numpy_import_as, numpy_helper])
def test_functions_of_numpy_that_are_exchanged(f: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    gradient, x = srcgrad.grad(f), np.array([0.3, 0.7])

    def check() -> None:
        steps = 1e-6 * np.eye(2)
        right = np.array([(f(x + step) - f(x - step)) / 2e-6 for step in steps])
        for _ in range(4):  # the third call on runs the text for arguments that look alike
            assert np.allclose(gradient(x), right, rtol=1e-6)
        assert np.isclose(srcgrad.jvp(f, (x,), (np.ones(2),))[1], right.sum(), rtol=1e-6)

    check()
    monkeypatch.setattr(np, "tanh", cube)
    check()
    monkeypatch.undo()
    check()


def hyperbolic(x: Any) -> Any:
    return np.sum(np.cosh(x) * x)


def solved(x: Any) -> Any:
    return np.sum(np.linalg.solve(np.array([[2.0, 0.3], [0.1, 1.5]]), x) * x)


def determinant(x: Any) -> Any:
    return np.log(np.linalg.det(np.array([[2.0, 0.3], [0.1, 1.5]]) * x))


def broadcast(x: Any) -> Any:
    return np.sum((x.reshape(2, 1) * x) ** 3)


def gathered(x: Any) -> Any:
    return np.sum(x[np.array([0, 0, 1])] ** 2 * np.exp(x[1]))


def gamma(x: Any) -> Any:
    from scipy import special

    return np.sum(special.gammaln(x) * x)


def angle(x: Any) -> Any:
    return math.cosh(x[0]) * math.sin(x[1])


def _cube(x: Any, *rest: Any) -> Any:
    return x * x * x


OF_RULES = [
    (hyperbolic, "numpy", "sinh"),
    (hyperbolic, "numpy", "multiply"),
    (solved, "numpy", "transpose"),
    (solved, "numpy", "swapaxes"),
    (determinant, "numpy", "expand_dims"),
    (broadcast, "numpy", "ndim"),
    (broadcast, "numpy", "shape"),
    (gathered, "numpy", "zeros_like"),
    (gathered, "numpy", "ones"),
    (gamma, "scipy.special", "digamma"),
    (angle, "math", "cos"),
    (angle, "numpy", "cos"),
    (angle, "numpy", "sinh"),
]


@pytest.mark.parametrize("target", ["numpy", "opencl", "numba"])
@pytest.mark.parametrize(("f", "module", "name"), OF_RULES)
def test_what_rules_mean_is_the_librarys(
    f: Callable[..., Any], module: str, name: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if target != "numpy" and (f not in (hyperbolic, angle) or name == "multiply"):
        return  # compiled by Numba, which itself calls what is replaced, or the same text as NumPy's
    gradient, x, ones = srcgrad.grad(f, target=target), np.array([0.3, 0.7]), np.ones(2)
    srcgrad.grad(numpy_call, target=target)(x)  # Numba itself reads NumPy when it is imported
    monkeypatch.setattr(importlib.import_module(module), name, _cube)
    found = [srcgrad.grad(f, target=target)(x)]
    monkeypatch.undo()
    found += [gradient(x)]
    monkeypatch.setattr(importlib.import_module(module), name, _cube)
    found += [gradient(x) for _ in range(4)]
    tangent = srcgrad.jvp(f, (x,), (ones,))[1]
    second = srcgrad.hvp(f)(x, ones)
    monkeypatch.undo()
    right = np.array([(f(x + step) - f(x - step)) / 2e-6 for step in 1e-6 * np.eye(2)])
    assert all(np.allclose(one, right, rtol=1e-6) for one in found)
    assert np.isclose(tangent, right.sum(), rtol=1e-6)
    slopes = (srcgrad.grad(f)(x + 1e-5) - srcgrad.grad(f)(x - 1e-5)) / 2e-5
    assert np.allclose(second, slopes, rtol=1e-5)


BEFORE = """
import math
import sys

import numpy as np

sinh, tanh, inverse = np.sinh, np.tanh, np.linalg.inv
np.sinh = np.linalg.inv = np.transpose = lambda x: x * x * x
np.tanh = np.cos
math.sin = lambda x: x * x * x
import srcgrad
from patched_programs import *

def check(f, x):
    right = np.array([(f(x + step) - f(x - step)) / 2e-6 for step in 1e-6 * np.eye(2)])
    assert np.allclose(srcgrad.grad(f)(x), right, rtol=1e-6), f.__name__
    assert np.isclose(srcgrad.jvp(f, (x,), (np.ones(2),))[1], right.sum(), rtol=1e-6), f.__name__

for f in (hyperbolic, own, squashed, angle, turned):
    check(f, np.array([0.3, 0.7]))
np.sinh, np.tanh, np.linalg.inv = sinh, tanh, inverse
for f in (hyperbolic, own, squashed, angle, turned):
    check(f, np.array([0.3, 0.7]))
print("right")
"""
PROGRAMS = """
import math
import numpy as np

def hyperbolic(x):
    return np.sum(np.cosh(x) * x)

def own(x):
    return np.sum(np.sinh(x) * x)

def squashed(x):
    return np.sum(np.tanh(x) * np.cosh(x))

def angle(x):
    return math.cos(x[0]) * math.sin(x[1])

def turned(x):
    return np.sum((np.outer(x, x) @ x) ** 2)
"""


def test_what_was_replaced_before_anything_was_differentiated(tmp_path: Path) -> None:
    (tmp_path / "patched_programs.py").write_text(PROGRAMS)
    (tmp_path / "before.py").write_text(BEFORE)
    command = [sys.executable, str(tmp_path / "before.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.stdout == "right\n", done.stderr


def test_a_closure_cell() -> None:
    def make() -> tuple[Any, Any]:
        inner = lambda t: t * t  # noqa: E731

        def f(x: float) -> Any:
            return inner(x)

        def change() -> None:
            nonlocal inner
            inner = cube

        return f, change

    f, change = make()
    gradient = srcgrad.grad(f)
    assert gradient(3.0) == 6.0
    change()
    assert gradient(3.0) == 27.0


def square(x: Any) -> Any:
    return x * x


TABLE: dict[str, Any] = {"power": square, "deep": [square]}
STEPS: list[Any] = [square]


class Holder:
    def __init__(self) -> None:
        self.table = {"power": square}


HOLDER = Holder()


def by_key(x: Any) -> Any:
    return TABLE["power"](x)


def in_depth(x: Any) -> Any:
    return TABLE["deep"][0](x)


def by_place(x: Any) -> Any:
    return STEPS[0](x)


def one_by_one(x: Any) -> Any:
    for step in STEPS:
        x = step(x)
    return x


def of_an_object(x: Any) -> Any:
    return HOLDER.table["power"](x)


def in_a_helper(x: Any) -> Any:
    return by_key(x) * 1.0


FUNCTIONS: list[tuple[Any, Any, Any]] = [
    (by_key, TABLE, "power"),
    (in_depth, TABLE["deep"], 0),
    (by_place, STEPS, 0),
    (one_by_one, STEPS, 0),
    (of_an_object, HOLDER.table, "power"),
    (in_a_helper, TABLE, "power"),
]


@pytest.mark.parametrize(("function", "held", "place"), FUNCTIONS, ids=lambda one: getattr(one, "__name__", ""))
def test_a_function_in_a_container(function: Any, held: Any, place: Any) -> None:
    derived = srcgrad.value_and_grad(function)
    assert derived(3.0) == (9.0, 6.0) and srcgrad.jvp(function, (3.0,), (1.0,))[1] == 6.0
    held[place] = cube
    assert derived(3.0) == (27.0, 27.0) and srcgrad.jvp(function, (3.0,), (1.0,))[1] == 27.0
    held[place] = square
    assert derived(3.0) == (9.0, 6.0)


class Layer:
    def __init__(self, weight: float) -> None:
        self.weight = weight

    def __call__(self, x: Any) -> Any:
        return x * x * self.weight


class Holding:
    def __init__(self) -> None:
        self.layer = Layer(2.0)


LAYER, LAYERS, HOLDING = Layer(2.0), [Layer(2.0)], Holding()


def called(x: Any) -> Any:
    return LAYER(x) * 2.0


def called_in_a_list(x: Any) -> Any:
    return LAYERS[0](x)


def called_by_its_name(x: Any) -> Any:
    return HOLDING.layer.__call__(x)


def made_and_called(x: Any) -> Any:
    layer = Layer(3.0)
    return layer(x)


@dataclasses.dataclass
class Point:
    a: float
    b: float = 2.0

    def weighed(self, x: Any) -> Any:
        return x * self.a * self.b


class Pair(NamedTuple):
    a: float
    b: float = 2.0


def of_fields(x: Any) -> Any:
    point = Point(a=x)
    return point.a * point.b * x


def of_method(x: Any) -> Any:
    point = Point(x)
    return point.weighed(x) * x


def of_pair(x: Any) -> Any:
    pair = Pair(x)
    return pair.a * pair.b * x


def _squared(self: Any, a: Any, b: Any = 6.0) -> None:
    self.a, self.b = a * a, b


def _with_others(self: Any, name: str) -> Any:
    return 5.0 if name == "b" else object.__getattribute__(self, name)


def _cubed(self: Any, x: Any) -> Any:
    return x * x * x * self.weight


def _times_seven(self: Any, x: Any) -> Any:
    return x * self.a * 7.0


IN_CLASSES: list[tuple[Any, Any, str, Any]] = [
    *((f, Layer, "__call__", _cubed) for f in (called, called_in_a_list, called_by_its_name, made_and_called)),
    *((f, Point, "__init__", _squared) for f in (of_fields, of_method)),
    *((f, Point.__init__, "__defaults__", (7.0,)) for f in (of_fields, of_method)),
    *((f, Point, "__getattribute__", _with_others) for f in (of_fields, of_method)),
    *((f, Point, "b", property(lambda self: 4.0, lambda self, given: None)) for f in (of_fields, of_method)),
    (of_method, Point, "weighed", _times_seven),
    (of_pair, Pair.__new__, "__defaults__", (7.0,)),
]


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize(("f", "owner", "name", "new"), IN_CLASSES)
def test_what_a_class_does_is_exchanged(
    f: Callable[..., Any], owner: Any, name: str, new: Any, fresh: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    makers: list[Callable[..., Any]] = [srcgrad.grad, lambda f: srcgrad.grad(f, target="opencl")]
    derived = [] if fresh else [make(f) for make in makers]
    for one in derived * 3:
        one(1.3)
    monkeypatch.setattr(owner, name, new)
    right = (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6
    bend = (f(1.3 + 1e-4) - 2.0 * f(1.3) + f(1.3 - 1e-4)) / 1e-8
    for one in derived or [make(f) for make in makers]:
        try:
            assert np.isclose(one(1.3), right, rtol=1e-6)
        except srcgrad.DifferentiationError as error:  # an object that is no more than its fields
            assert owner is not Layer and error.code in ("E5003", "E5005")
    with contextlib.suppress(srcgrad.DifferentiationError):
        assert np.isclose(srcgrad.jvp(f, (1.3,), (1.0,))[1], right, rtol=1e-6)
        assert np.isclose(srcgrad.hvp(f)(1.3, 1.0), bend, rtol=1e-5, atol=1e-5)
