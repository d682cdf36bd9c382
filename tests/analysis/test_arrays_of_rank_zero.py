"""Arrays without axes and NumPy's numbers under two names: the first change in place, the second are bound anew."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.core.errors import DifferentiationError

RIGHT = {
    "an argument": "a = x; a *= 2.0; return a + x",
    "zeros like a number": "s = np.zeros_like(x); a = s; a += x * x; return a * s",
    "a copy": "s = np.copy(x); a = s; a *= x; return a * s",
    "an array of a number": "s = np.array(x); a = s; a += x * x; return a * s",
    "what where gives": "s = np.where(x > 0, x * x, x); a = s; a += x; return a * s",
    "a sum, which is a number": "s = np.sum(x); a = s; a += x; return a * s",
    "a number of arithmetic": "s = +x; a = s; a *= x; return a * s",
    "the item of an array": "s = np.array(x); a = s[()]; s += x; return a * s",
    "the whole of an array": "s = np.array(x); a = s[...]; a += x; return a * s",
    "the array behind its whole": "s = np.array(x); a = s[...]; s += x; return a * s",
    "three names": "a = np.array(x); b = a; c = b; c -= 0.5 * x; return a * b * c",
    "names bound at once": "a = b = np.zeros_like(x); a += x; return a * b + x",
    "a tuple": "a, b = np.zeros_like(x), 1.0; c = a; c += x; return a * b + c * c",
    "a loop": "s = np.zeros_like(x); t = s\n    for k in range(3): t += x * (k + 1.0); t *= x\n    return s * t",
    "a store": "s = np.array(x); a = s; a[()] = x * 3.0; return a * s",
    "a store of the whole": "s = np.zeros(()); a = s; a[...] = x * 3.0; return a * s",
    "an item of a vector": "v = np.zeros(3); a = v[1]; a += x; v[1] += x * x; return a * np.sum(v)",
    "a part without axes of a vector": "v = np.zeros(3); a = v[1, ...]; a += x; return a * np.sum(v)",
    "a store and a change": "y = np.zeros(()); y[()] = x * x; z = y; z += x; return y * 2",
    "a power": "v = np.array(x); a = v; a **= 2; return a * v",
    "both": "v = np.array(x); a = v; a -= x * 0.25; v /= 2.0; return a * v",
}
EITHER = {
    "an argument's item": "a = x[()]; a *= 3.0; return a * x",
    "an argument's whole": "a = x[...]; a *= 3.0; return a * x",
    "an argument as an array": "s = np.asarray(x); s *= x; return s * x",
    "a list": "a = np.array(x); l = [a]; a += x; return l[0] * a",
    "a tuple that holds it": "a = np.array(x); l = (a, 1.0); a += x; return l[0] * a",
    "one of two": "a = np.zeros_like(x); b = a if x > 0 else x; b += x; return a * b + x",
    "an array or a number": "a = np.array(x); b = 2.0 * x\n    if x > 0: b = a\n    b += x\n    return a * b",
    "what a function gives": "a = zeros(x); b = a; b += x; return a * b + x",
    "what a function changes": "a = np.zeros_like(x); b = added(a, x); return a * b + x",
    "a reshaped argument": "s = np.reshape(x, ()); a = s; a += x; return a * s",
    "a squeezed array": "s = np.squeeze(np.array([x * x])); a = s; a += x; return a * s",
}
HEAD = """
import numpy as np

def zeros(x):
    return np.zeros_like(x)

def added(s, x):
    s += x
    return s

"""


def made(body: str, name: str) -> Any:
    text = f"{HEAD}def f(x):\n    {body}\n"
    file = f"<rank zero, {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope: dict[str, Any] = {}
    exec(compile(text, file, "exec"), scope)
    return scope["f"]


@pytest.mark.parametrize("given", [np.array, np.float64, float])
@pytest.mark.parametrize("name", [*RIGHT, *EITHER])
def test_two_names_of_a_value_without_axes(name, given):
    f = made({**RIGHT, **EITHER}[name], name)
    if given is float and "x[" in {**RIGHT, **EITHER}[name]:
        return  # Python's numbers have no items
    wanted = (f(given(1.5 + 1e-6)) - f(given(1.5 - 1e-6))) / 2e-6
    x = given(1.5)
    try:
        value, gradient = srcgrad.value_and_grad(f)(x)
        _, tangent = srcgrad.jvp(f, (x,), (1.0,))
    except srcgrad.DifferentiationError:
        assert name in EITHER
        return
    assert x == 1.5 and np.isclose(value, f(given(1.5)))
    assert np.isclose(gradient, wanted, rtol=1e-6) and np.isclose(tangent, wanted, rtol=1e-6)


def test_the_whole_of_an_argument_without_axes():
    def f(x):
        return x[...] + x[()] * x * x[...]

    for x in (np.array(0.34, dtype=np.float32), np.array(0.34), np.float64(0.34)):
        assert np.isclose(srcgrad.grad(f)(x), 1.0 + 3.0 * 0.34**2, rtol=1e-6)
        assert np.isclose(srcgrad.jvp(f, (x,), (x.dtype.type(1.0),))[1], 1.0 + 3.0 * 0.34**2, rtol=1e-6)


def test_a_second_name_of_an_array_of_any_rank():
    def f(x):
        y = x
        y += 1.0
        return np.sum(x * y)

    def g(x):
        a = b = x * 2.0
        c = b
        a += x
        c *= x
        return np.sum(a * b)

    x = np.array([0.3, 0.7])
    assert np.allclose(srcgrad.grad(g)(x), 36.0 * x**3)  # a, b and c are 3 x x
    assert np.allclose(srcgrad.grad(f)(x), 2.0 * (x + 1.0)) and np.array_equal(x, [0.3, 0.7])
    assert np.allclose(srcgrad.jvp(f, (x,), (np.ones(2),))[1], 2.0 * np.sum(x + 1.0))


@pytest.mark.parametrize("item", [np.array(0.89), np.array([0.89])])
@pytest.mark.parametrize("kind", [list, dict])
def test_an_item_of_a_name_that_holds_a_list_and_then_a_dict_is_never_changed_for_the_caller(
    item: Any, kind: Any
) -> None:
    """A name that holds containers of two kinds is no known list, so its items are looked at when it runs."""

    def mixed(a: Any, c: Any, x: Any) -> Any:
        x[1] += 0.5
        if c:
            s = x
            x = {1: s[1], "w": c}
        return a * np.sum(x[1])

    given = kind([1.0, item]) if kind is list else {0: 1.0, 1: item}
    with pytest.raises(srcgrad.DifferentiationError, match="E5010"):
        srcgrad.value_and_grad(mixed)(0.63, 0.45, given)
    np.testing.assert_array_equal(item, np.full(item.shape, 0.89))
    assert srcgrad.value_and_grad(mixed)(0.63, 0.45, [1.0, 0.89]) == pytest.approx((0.8757, 1.39))


def test_second_names_of_an_array_without_axes_change_with_it() -> None:
    """By tuples, chains and nested targets: they were taken for numbers, and the value was that before the change."""

    def pair(a: Any, b: Any) -> Any:
        c, _ = (a, a)
        a += a
        return c * b

    def chain(a: Any, b: Any) -> Any:
        c = _ = a
        a += a
        return c * b

    def nested(a: Any, b: Any) -> Any:
        [_, (_, e)] = a, (b, a)
        a += b
        return e * b

    for f in (pair, chain, nested):
        a = np.array(0.36)
        with pytest.raises(srcgrad.DifferentiationError, match="E5010"):
            srcgrad.value_and_grad(f)(a, 0.45)
        assert a == 0.36
        value = f(0.36, 0.45)
        assert srcgrad.value_and_grad(f)(0.36, 0.45) == pytest.approx((value, 0.45))


def _cleared(a):
    a -= a
    return (lambda t: t * 2.0)(0.9)


def _unread(c, a):
    x = _cleared(c)
    c, x = divmod(0.3, 2.0)
    return np.sum(a * 1.0) + c + 0.0 * x


def test_an_array_without_axes_that_a_called_function_changes_is_the_callers() -> None:
    given, other = np.array(1.06), np.array(0.6)
    for derive in (
        lambda: srcgrad.grad(_unread, (0, 1))(given, other),
        lambda: srcgrad.jvp(_unread, (given, other), (given, np.array(1.0))),
    ):
        with pytest.raises(DifferentiationError, match="E5010"):
            derive()
        assert given == 1.06


def test_an_array_that_a_called_function_clears_is_as_before_when_the_derivative_returns() -> None:
    given, other = np.array([1.06, 2.0]), np.array(0.6)
    cleared, rest = srcgrad.grad(_unread, (0, 1))(given, other)
    assert np.array_equal(cleared, np.zeros(2))
    assert rest == 1.0
    assert srcgrad.jvp(_unread, (given, other), (given, np.array(1.0))) == (0.6, 1.0)
    assert np.array_equal(given, [1.06, 2.0])
