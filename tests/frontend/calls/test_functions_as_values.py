"""Functions that hold what is differentiated, in lists, dicts and branches: right in all modes, or refused."""

from __future__ import annotations

import functools
import inspect
import subprocess
import sys
import types
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

import srcgrad
from srcgrad.runtime import adjoint_of, call, pullback_of, pushforward_of, tangent_of

X, W = np.array([0.3, -0.7, 1.1]), np.array([0.5, 1.2, -0.4])
ROWS = np.array([W, X, W[::-1]])


def affine(h: Any, a: Any, b: Any = 1.0) -> Any:
    return np.tanh(a * h) + b


def scaler(a: Any) -> Callable[..., Any]:
    def scaled(h: Any) -> Any:
        return np.tanh(a * h)

    return scaled


def lambdas(x: Any, w: Any) -> Any:
    fs = [lambda h: h * w, np.tanh, lambda h: h + w[0]]
    for f in fs:
        x = f(x)
    return np.sum(x)


def partials(x: Any, w: Any) -> Any:
    fs = [partial(np.multiply, w), np.tanh, functools.partial(affine, b=w[0], a=2.0), partial(affine, a=x, b=x)]
    for f in fs:
        x = f(x)
    return np.sum(x)


def definitions_of_a_dict(x: Any, w: Any) -> Any:
    def scale(h: Any) -> Any:
        return h * w

    def shift(h: Any) -> Any:
        t = np.sin(h)
        return t + w

    table = {"scale": scale, "shift": shift}
    for key in ("scale", "shift", "scale"):
        x = table[key](x)
    return np.sum(x)


def chosen_by_a_branch(x: Any, w: Any) -> Any:
    f = (lambda h: h * w) if x[0] > 0 else (lambda h: h + w)
    g = partial(np.multiply, w) if w[0] > 1.0 else partial(np.multiply, x)
    return np.sum(f(g(f(x))))


def defaults_are_of_the_definition(x: Any, rows: Any) -> Any:
    fs = [lambda h, row=row, k=k: np.sin(h * row) * k for k, row in enumerate(rows, 1)]
    for f in fs:
        x = f(x)
    return np.sum(x)


def made_in_a_loop(x: Any, rows: Any) -> Any:
    fs = []
    for row in rows:
        fs.append(scaler(row))
    fs += [scaler(2.0 * row) for row in rows]
    for f in fs:
        x = f(x)
    return np.sum(x)


def one_twice(x: Any, w: Any) -> Any:
    fs = [partial(affine, a=w, b=0.5)] * 2
    fs.append(fs[0])
    y = x
    for f, k in zip(fs, range(3), strict=True):
        y = f(y) * k + f(x)
    return np.sum(y)


def bound_anew(x: Any, w: Any) -> Any:
    p = partial(np.multiply, w)
    for _ in range(3):
        x = p(x)
        p = partial(np.multiply, x)
    return np.sum(x)


def unpacked(x: Any, w: Any) -> Any:
    f, g = [partial(affine, a=w), np.tanh]
    return np.sum(f(x) * g(f(w)))


def in_tuples(x: Any, w: Any) -> Any:
    for _, f in [("scale", lambda h: h * w), ("tanh", np.tanh), ("both", lambda h: affine(h, w))]:
        x = f(x)
    return np.sum(x)


def of_a_nested_call(x: Any, w: Any) -> Any:
    def layers(v: Any) -> list[Callable[..., Any]]:
        return [lambda h: h * v, partial(lambda a, h: a * np.sin(h), v)]

    for k in range(2):
        fs = layers(w * (k + 1))
        w = fs[0](w) + 1.0
        x = fs[1](fs[0](x))
    return np.sum(x)


RIGHT = [
    lambdas, partials, definitions_of_a_dict, defaults_are_of_the_definition, made_in_a_loop, bound_anew, in_tuples,
    of_a_nested_call,
]  # fmt: skip


@pytest.mark.parametrize("function", RIGHT)
def test_right_in_all_modes(function: Callable[..., Any]) -> None:
    second = ROWS if "rows" in function.__code__.co_varnames[:2] else W
    srcgrad.check_grads(function, (X, second), order=2)


@pytest.mark.parametrize("function", [chosen_by_a_branch, one_twice, unpacked])
def test_called_twice_by_one_name(function: Callable[..., Any]) -> None:
    """The adjoints of the function add up; reverse over reverse is refused there, and forward over reverse is not."""
    srcgrad.check_grads(function, (X, W), order=1)
    gradient, v = srcgrad.grad(function, wrt=(0, 1)), (np.array([0.4, 1.0, -0.8]), np.array([0.2, -0.3, 0.7]))
    step = 1e-6
    ahead, behind = (gradient(X + h * v[0], W + h * v[1]) for h in (step, -step))
    found = srcgrad.hvp(function, wrt=(0, 1))(X, W, v)
    for one, more, less in zip(found, ahead, behind, strict=True):
        np.testing.assert_allclose(one, (more - less) / (2.0 * step), atol=1e-6)


def read_when_called(x: Any, w: Any) -> Any:
    fs = [lambda h: h * w]
    w = 2.0 * w
    return np.sum(fs[0](x))


def last_of_a_loop(x: Any, w: Any) -> Any:
    fs = []
    for k in (1.0, 2.0):
        fs.append(lambda h: h * k * w)  # noqa: B023 the trap
    return np.sum(fs[0](x))


def its_own_argument(x: Any, w: Any) -> Any:
    for f in [lambda h: h * w, lambda h: h + x]:  # noqa: B023 the trap
        x = f(x)
    return np.sum(x)


def bound_in_a_loop_behind(x: Any, w: Any) -> Any:
    fs = [lambda h: h * w]
    for _ in range(3):
        x = fs[0](x)
        w = w * 2.0
    return np.sum(x)


def bound_by_another_function(x: Any, w: Any) -> Any:
    fs = [lambda h: h * w]

    def bump() -> None:
        nonlocal w
        w = w * 2.0

    bump()
    return np.sum(fs[0](x))


def kept_elsewhere(x: Any, w: Any) -> Any:
    def keep() -> list[Callable[..., Any]]:
        return [lambda h: h * w, np.tanh]

    fs = keep()
    w = 2.0 * w
    return np.sum(fs[0](x))


def given_and_kept(x: Any, w: Any) -> Any:
    def keep(g: Callable[..., Any]) -> list[Callable[..., Any]]:
        return [g, np.tanh]

    fs = keep(lambda h: h * w)
    w = 2.0 * w
    return np.sum(fs[0](x))


def array_that_changes(x: Any, w: Any) -> Any:
    a = w * 1.0
    fs = [partial(np.multiply, a)]
    a[0] = 2.0
    return np.sum(fs[0](x))


def second_name_that_changes(x: Any, w: Any) -> Any:
    a = w * 1.0
    p = partial(np.multiply, a)
    fs = [p]
    a *= 2.0
    return np.sum(fs[0](x))


def told_apart(x: Any, w: Any) -> Any:
    def scale(h: Any) -> Any:
        return h * w

    for f in [scale, np.sin]:
        x = f(x) * 2.0 if f is scale else f(x)
    return np.sum(x)


def counts(x: Any, w: Any) -> Any:
    n = 0.0

    def scale(h: Any) -> Any:
        nonlocal n
        n += 1.0
        return h * w * n

    for f in [scale, scale]:
        x = f(x)
    return np.sum(x)


def list_that_changes(x: Any, w: Any) -> Any:
    held = [w]
    fs = [lambda h: h * held[0]]
    held[0] = x
    return np.sum(fs[0](x))


def made_of_a_function(x: Any, w: Any) -> Any:
    f = partial(np.multiply, w)
    for _ in range(2):
        f = partial(lambda g, h: g(h), f)
    return np.sum(f(x))


@pytest.mark.parametrize(
    "function, code",
    [
        (read_when_called, "E5031"),
        (last_of_a_loop, "E5031"),
        (its_own_argument, "E5031"),
        (bound_in_a_loop_behind, "E5031"),
        (bound_by_another_function, "E5031"),
        (kept_elsewhere, "E5005"),
        (given_and_kept, "E5005"),
        (array_that_changes, "E5010"),
        (second_name_that_changes, "E5010"),
        (told_apart, "E5005"),
        (counts, "E5005"),
        (list_that_changes, "E5031"),
        (made_of_a_function, "E5031"),
    ],
)
def test_what_would_be_wrong_is_refused(function: Callable[..., Any], code: str) -> None:
    for derive in (srcgrad.grad, srcgrad.hvp):
        with pytest.raises(srcgrad.DifferentiationError) as found:
            derive(function, wrt=(0, 1))(X, W, *([(X, W)] if derive is srcgrad.hvp else []))
        assert found.value.code == code


def one_and_the_same(x: Any, w: Any) -> Any:
    f = lambda h: h * w  # noqa: E731
    a, b = [f], [f]
    return np.sum(a[0](x)) * (2.0 if a[0] is b[0] else 3.0)


def equal(x: Any, w: Any) -> Any:
    f = lambda h: h * w  # noqa: E731
    a, b = [f], [f, np.sin]
    return np.sum(a[0](x)) * (2.0 if a[0] in b else 3.0)


def equal_lists(x: Any, w: Any) -> Any:
    f = lambda h: h * w  # noqa: E731
    a, b = [f], [f]
    return np.sum(a[0](x)) * (2.0 if a == b else 3.0)


def of_a_set(x: Any, w: Any) -> Any:
    f = lambda h: h * w  # noqa: E731
    a = [f, f, np.sin]
    return np.sum(a[0](x)) * len(set(a))


def keys(x: Any, w: Any) -> Any:
    f = lambda h: h * w  # noqa: E731
    a = [f, f]
    return np.sum(a[0](x)) * {a[0]: 2.0}.get(a[1], 3.0)


def of_one_text(x: Any, w: Any) -> Any:
    fs = [lambda h: np.sin(h) for _ in range(2)]
    return np.sum(fs[0](x) * w) * (2.0 if fs[0] is fs[1] else 3.0)


def named(x: Any, w: Any) -> Any:
    def scale(h: Any) -> Any:
        return h * w

    return sum(np.sum(f(x)) * len(getattr(f, "__name__", "")) for f in [scale, np.sin])


def with_attributes(x: Any, w: Any) -> Any:
    return sum(np.sum(f(x)) * (2.0 if hasattr(f, "func") else 3.0) for f in [lambda h: h * w, np.sin])


def of_a_type(x: Any, w: Any) -> Any:
    return sum(np.sum(f(x)) * (2.0 if type(f) is types.FunctionType else 3.0) for f in [lambda h: h * w, np.sin])


def of_partial(x: Any, w: Any) -> Any:
    return sum(np.sum(f(x)) * (2.0 if isinstance(f, partial) else 3.0) for f in [lambda h: h * w, np.sin])


def inside_of_partial(x: Any, w: Any) -> Any:
    def both(a: Any, h: Any) -> Any:
        return a * h * w

    fs = [partial(both, x), partial(both, w)]
    return np.sum(fs[0](x)) * (2.0 if fs[0].func is fs[1].func else 3.0)


def written_out(x: Any, w: Any) -> Any:
    return sum(np.sum(f(x)) * (2.0 if "lambda" in str(f) else 3.0) for f in [lambda h: h * w, np.sin])


def same(f: Any, g: Any) -> float:
    return 2.0 if f is g else 3.0


def asked_by_a_helper(x: Any, w: Any) -> Any:
    f = lambda h: h * w  # noqa: E731
    a, b = [f], [f]
    return np.sum(a[0](x)) * same(a[0], b[0])


def asked_by_one_that_is_kept(x: Any, w: Any) -> Any:
    g = lambda h: np.sin(h)  # noqa: E731
    a, b = [g][0], [g][0]
    fs = [lambda h: h * w * (2.0 if a is b else 3.0)]
    return np.sum(fs[0](x))


def twins(a: Any) -> tuple[Any, Any]:
    f = lambda h: h * a  # noqa: E731
    return f, f


def given_by_a_helper(x: Any, w: Any) -> Any:
    f, g = twins(w)
    return np.sum(f(g(x))) * (2.0 if f is g else 3.0)


def of_an_array(x: Any, w: Any) -> Any:
    fs = np.array([lambda h: h * w, np.sin], dtype=object)
    return np.sum(fs[0](x))


ASKED = [
    one_and_the_same, equal, equal_lists, of_a_set, keys, of_one_text, named, with_attributes, of_a_type, of_partial,
    inside_of_partial, written_out, asked_by_a_helper, asked_by_one_that_is_kept, given_by_a_helper,
]  # fmt: skip


@pytest.mark.parametrize("function", ASKED)
def test_a_function_that_is_kept_is_not_asked_who_it_is(function: Callable[..., Any]) -> None:
    """A closure stands in its place, made anew at each place: the value itself would be another one."""
    for derive in (srcgrad.value_and_grad, srcgrad.hvp):
        with pytest.raises(srcgrad.DifferentiationError, match="E5031"):
            derive(function, wrt=(0, 1))(X, W, *([(X, W)] if derive is srcgrad.hvp else []))
    with pytest.raises(srcgrad.DifferentiationError, match="E5031"):
        srcgrad.jvp(function, (X, W), (X, W))


def test_functions_are_not_parts_of_arrays() -> None:
    with pytest.raises(srcgrad.DifferentiationError):
        srcgrad.grad(of_an_array, wrt=(0, 1))(X, W)
    with pytest.raises(srcgrad.DifferentiationError, match="E5031"):
        srcgrad.jvp(of_an_array, (X, W), (X, W))


def of_the_class_of_functions(x: Any, w: Any) -> Any:
    s = 0.0
    for f in [lambda h: h * w, np.sin, 2.0]:
        if isinstance(f, types.FunctionType):
            s = s + np.sum(f(x))
        elif callable(f):
            s = s + np.sum(f(x)) * (2.0 if inspect.isfunction(f) else 3.0)
        else:
            s = s * f
    return s


def told_from_others(x: Any, w: Any) -> Any:
    s, table = 0.0, {"p": lambda h: h * w, "q": np.sin, "r": np.cos, "s": None}
    for key, f in table.items():
        if f is None or key == "t":
            s = s + np.sum(x * w)
        elif f is np.sin or f == np.cos:
            s = s + 2.0 * np.sum(f(x))
        else:
            s = s + np.sum(f(x) ** 2) * (2.0 if type(s) is float and f == f else 3.0)
    return s


def squares_in_order(x: Any) -> Any:
    return np.array(sorted(x, key=lambda v: v * v))


def helper_with_a_lambda(x: Any, w: Any) -> Any:
    y = squares_in_order(x)
    z = y * w
    return np.sum(z) * (2.0 if type(y) is np.ndarray and y is not z else 3.0)


@pytest.mark.parametrize("function", [of_the_class_of_functions, told_from_others, helper_with_a_lambda])
def test_what_a_closure_can_tell_is_right(function: Callable[..., Any]) -> None:
    srcgrad.check_grads(function, (X, W), order=1)
    assert srcgrad.value_and_grad(function)(X, W)[0] == pytest.approx(function(X, W))


def words_of_any_name(x: Any, w: Any) -> Any:
    fs = [lambda f, x: f * x * w]
    return np.sum(fs[0](f=x, x=w))


def test_an_argument_may_have_any_name() -> None:
    srcgrad.check_grads(words_of_any_name, (X, W), order=2)


def test_the_text_is_as_one_would_write_it() -> None:
    text = srcgrad.source(lambdas, wrt=(0, 1))
    assert "def inner(h, *, w):" in text and "(inner, w=w)" in text
    assert "x, call_back = pullback_of(call)(f, x)" in text and "f_bar, x_bar = call_back(x_bar)" in text
    forward = srcgrad.source(partials, wrt=(0, 1), mode="forward")
    assert "x, x_dot = pushforward_of(call, f_dot, x_dot)(f, x)" in forward


def test_the_operations_themselves() -> None:
    f = partial(affine, a=2.0, b=3.0)
    y, back = pullback_of(call)(f, 0.5)
    slope = 1.0 - np.tanh(1.0) ** 2
    bar, x_bar = back(1.0)
    assert y == affine(0.5, 2.0, 3.0) and bar.parts == pytest.approx({"a": 0.5 * slope, "b": 1.0})
    assert x_bar == pytest.approx(2.0 * slope)
    made, made_back = pullback_of(partial, wrt=("a",))(affine, a=2.0, b=3.0)
    assert made.keywords == {"a": 2.0, "b": 3.0} and made_back(bar) == pytest.approx(0.5 * slope)
    _, y_dot = pushforward_of(call, bar, 0.0)(f, 0.5)
    assert y_dot == pytest.approx(0.25 * slope**2 + 1.0)
    assert tangent_of(call, (0, 1))(bar, 0.0, f, 0.5) == y_dot
    found, _ = adjoint_of(call, (0, 1))(1.0, f, 0.5)
    assert found.parts == bar.parts
    assert pullback_of(call)(np.sin, 2)[1](1.0)[0].parts == {}


def test_a_dumped_text(tmp_path: Path) -> None:
    model, made = tmp_path / "model.py", tmp_path / "made.py"
    model.write_text(
        "import numpy as np\nfrom functools import partial\n\n\n"
        "def f(x, w):\n    fs = [lambda h: h * w, partial(np.multiply, w), np.tanh]\n"
        "    for layer in fs:\n        x = layer(x)\n    return np.sum(x)\n"
    )
    dump = [sys.executable, "-m", "srcgrad", "dump", f"{model}:f", "--wrt", "x,w"]
    subprocess.run([*dump, "-o", str(made)], check=True)
    script = "import made, numpy as np; print(*made.f_grad(np.array([0.5]), np.array([2.0])))"
    shown = subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path, capture_output=True, text=True)
    slope = 1.0 - np.tanh(2.0) ** 2
    found = [float(one.strip("[]")) for one in shown.stdout.split()]
    np.testing.assert_allclose(found, [4.0 * slope, 2.0 * slope])
    refused = subprocess.run([*dump, "--standalone"], capture_output=True, text=True)
    assert refused.stderr.startswith("E5031") and refused.returncode


def integrated(k: Any) -> Any:
    rates = [lambda t: k * t, lambda t: k * t * t]
    return quad(rates[1], 0.0, 1.0)[0]


def crossed(k: Any) -> Any:
    found = {"p": lambda t: t * t - k}
    g = found["p"]
    return brentq(g, 0.0, 3.0)


@pytest.mark.parametrize("f", [integrated, crossed])
def test_a_kept_function_that_a_solver_gets_is_refused(f: Any) -> None:
    """The solver's rule takes no derivative of a function's value: the gradient was 0."""
    for derive in (lambda: srcgrad.grad(f)(2.0), lambda: srcgrad.jvp(f, (2.0,), (1.0,))):
        with pytest.raises(srcgrad.DifferentiationError, match="E5031"):
            derive()


def line(t, a, b):
    return a * t + b


def by_tuple(p):
    return quad(line, 0.0, 2.0, args=tuple(p))[0]


def by_display(p):
    if p[0] > 0.0:
        return quad(line, 0.0, 2.0, args=(*p,))[0] if p[1] > 0.0 else p[1]
    return p[1]


def by_computed_items(p):
    total = 0.0
    for k in range(2):
        total += quad(lambda t, a: a * t, 0.0, 2.0, args=tuple(p[k : k + 1] ** 2))[0]
    return total


@pytest.mark.parametrize(
    ("f", "slope"), [(by_tuple, [2.0, 2.0]), (by_display, [2.0, 2.0]), (by_computed_items, [12.0, 20.0])]
)
def test_further_arguments_may_be_an_array_made_a_tuple(f, slope):
    """By hand: the integral of a t + b from 0 to 2 is 2 a + 2 b, that of a a t is 2 a a."""
    p = np.array([3.0, 5.0])
    np.testing.assert_allclose(srcgrad.grad(f)(p), slope, rtol=1e-12)
    np.testing.assert_allclose(srcgrad.jvp(f, (p,), (np.ones(2),))[1], sum(slope), rtol=1e-12)
    with pytest.raises(ValueError, match="too many values to unpack"):
        srcgrad.grad(by_tuple)(np.ones(3))


def test_a_tuple_of_constants_stays_as_it_is_written():
    def scaled(x, hidden):
        return x * quad(line, 0.0, 2.0, args=tuple(hidden))[0]

    assert "args=tuple(hidden)" in srcgrad.source(scaled, wrt="x")


def cubed(t):
    for _ in range(1):
        t = t * t * t
    return np.sum(t)


def test_a_second_name_of_a_function_in_a_conditional_expression():
    def f(x):
        h, total = cubed, np.sum
        y = h(x) if total(x) > 0.0 else 2.0 * h(x)
        return y if y > 0.0 and h(x) > 0.0 else total(x)

    np.testing.assert_allclose(srcgrad.grad(f)(np.array([1.0, 2.0])), [3.0, 12.0])
    np.testing.assert_allclose(srcgrad.grad(f)(np.array([-1.0, -2.0])), [1.0, 1.0])
