"""What an operation is follows from what its operands are: never from a method's name or the literal beside it."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.dump import dump
from tests.programs.own_kinds import LISTS, METHODS, MODULES, OWNERS, SPACE

X = np.array([0.7, 1.3])


def space_of(text: str, file: str) -> dict[str, Any]:
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, Any] = {}
    exec(compile(text, file, "exec"), space)
    return space


def differences(f: Callable[[Any], Any], x: Any, step: float = 1e-6) -> Any:
    """Central differences, exact to 1e-9 for what these programs compute."""
    found = []
    for i in range(x.size):
        h = np.zeros(x.size)
        h[i] = step
        found.append((f(x + h) - f(x - h)) / (2 * step))
    return np.array(found)


def check(f: Callable[[Any], Any], order: int = 2) -> None:
    right = differences(f, X)
    value, gradient = srcgrad.value_and_grad(f)(X.copy())
    np.testing.assert_allclose(value, f(X.copy()), rtol=1e-12)
    np.testing.assert_allclose(gradient, right, rtol=1e-5, atol=1e-7)  # of differences
    v = np.array([0.3, 1.1])
    np.testing.assert_allclose(srcgrad.jvp(f, (X.copy(),), (v,))[1], right @ v, rtol=1e-5, atol=1e-7)
    if order > 1:
        second = (srcgrad.grad(f)(X + 1e-5 * v) - srcgrad.grad(f)(X - 1e-5 * v)) / 2e-5
        np.testing.assert_allclose(srcgrad.hvp(f)(X.copy(), v), second, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_ones_own_that_are_named_like_an_arrays(name: str) -> None:
    space = space_of(OWNERS.format(name=name), f"<own {name}>")
    programs = space["PROGRAMS"] if name in ("mean", "append") else space["PROGRAMS"][METHODS.index(name) % 5 :: 5]
    for f in programs:
        check(f, order=2 if name == "mean" else 1)


@pytest.mark.parametrize("name", [*LISTS, *MODULES])
def test_lists_beside_arrays_and_modules_by_other_names(name: str) -> None:
    body = {**LISTS, **MODULES}[name]
    check(space_of(f"{SPACE}def f(x):\n    {body}\n", f"<kinds {name}>")["f"])


@pytest.mark.parametrize("f", [lambda x: np.dot(x, x), lambda x: np.sum(np.square(x)), lambda x: np.ones(2) @ x])
def test_a_list_is_an_argument(f: Callable[[Any], Any]) -> None:
    found = srcgrad.grad(f)([1.0, 2.0])
    assert isinstance(found, list)
    np.testing.assert_allclose(found, srcgrad.grad(f)(np.array([1.0, 2.0])))


def test_everything_of_numpy_imported() -> None:
    text = """from numpy import *
def f(x):
    out = [x[0]]
    out.insert(1, x[1])
    return sum(sin(x) * x[0]) + max(x) * min(x) * out[1]
"""
    check(space_of(text, "<star>")["f"])


def test_a_weight_that_is_none() -> None:
    def f(x: Any, w: Any = None) -> Any:
        return np.average(x * x, weights=w)

    check(lambda x: f(x))
    check(f, order=1)


def test_a_number_in_one_place_and_a_tuple_in_another() -> None:
    def f(x: Any) -> Any:
        for _ in range(2):
            return x @ x * x[0]
        return (x, x)

    check(f, order=1)


def test_what_a_dump_assumes_is_checked(tmp_path: Path) -> None:
    file = tmp_path / "assumed.py"
    file.write_text(
        "import numpy as np\n\n\ndef f(x, m):\n    return m.mean(x) * x[0]\n\n\n"
        "def g(x, xp=np):\n    return xp.sum(x * x)\n\n\ndef h(x):\n    return np.sum(x + [1.0, 2.0])\n"
    )
    space: dict[str, Any] = {}
    exec(dump(str(file)).text, space)
    with pytest.raises(TypeError, match="E5003"):
        space["f_grad"](X, object())
    with pytest.raises(TypeError, match="E5003"):
        space["g_grad"](X, np.linalg)
    with pytest.raises(TypeError, match="E5005"):
        space["h_grad"]([1.0, 2.0])
    np.testing.assert_allclose(space["g_grad"](X), 2.0 * X)
    np.testing.assert_allclose(space["h_grad"](X), np.ones(2))


def test_an_object_of_another_class_is_derived_anew() -> None:
    space = space_of(OWNERS.format(name="mean"), "<own anew>")
    f, whole = space["of_global_part"], space["whole"]
    derivative = srcgrad.grad(f)
    np.testing.assert_allclose(derivative(X), differences(f, X), rtol=1e-5)

    class Other:
        def mean(self, x: Any) -> Any:
            return np.sum(x)

    whole.part = Other()
    np.testing.assert_allclose(derivative(X), differences(f, X), rtol=1e-5)


def test_a_method_that_no_array_has_is_refused() -> None:
    def f(x: Any, m: Any) -> Any:
        return m.mean(x)

    with pytest.raises(srcgrad.DifferentiationError, match="E5003"):
        srcgrad.source(f, wrt="x")


@pytest.mark.parametrize("given", [[1.0, 2.0], (1.0,), {"a": 1.0}])
def test_a_name_that_an_expression_binds_is_read_as_what_it_is_then(given: Any) -> None:
    def f(a, x):
        return (x := 2.0 * a[0]) + np.sum(a) + 0.0 * x

    assert srcgrad.grad(f)(np.array([0.7, 0.3]), given).tolist() == [3.0, 1.0]


def _bound_in_an_expression(a):
    c = (t := 3.0 * a) * 2.0
    t = a * t
    t *= 2.0
    b = t
    return t + b + c


def test_what_an_expression_binds_may_be_a_number() -> None:
    assert srcgrad.grad(_bound_in_an_expression)(0.5) == 18.0
