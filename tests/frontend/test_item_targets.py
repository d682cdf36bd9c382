"""Every form of target times every form of value that is unpacked into it, alone and in a loop, in both modes."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import DifferentiationError, check_grads, grad

TARGETS = {  # what stands before, the statement, what is made of it
    "items": ("a = np.zeros(3)", "a[0], a[1] = {}", "a[0] * a[1]"),
    "items in brackets": ("a = np.zeros(3)", "[a[0], a[1]] = {}", "a[0] * a[1]"),
    "an item and a name": ("a = np.zeros(3)", "a[2], q = {}", "a[2] * q"),
    "a name and an item": ("a = np.zeros(3)", "q, a[2] = {}", "a[2] * q"),
    "two arrays": ("a, b = np.zeros(3), np.ones(2)", "a[2], b[-1] = {}", "a[2] * b[-1]"),
    "slices": ("a = np.zeros(4)", "a[:2], a[2:] = {}", "np.sum(a[:2] * a[2:] ** 2)"),
    "an item and a slice": ("a = np.zeros(3)", "a[0], a[1:3] = {}", "np.sum(a[0] * a[1:])"),
    "rows": ("a = np.zeros((2, 2))", "a[0, 1], a[1] = {}", "np.sum(a[0] * a[1])"),
    "items of a list": ("a = [0.0, 0.0]", "a[0], a[1] = {}", "a[0] * a[1]"),
    "keys": ("a = {'p': 0.0, 'q': 0.0}", "a['p'], a['q'] = {}", "a['p'] * a['q']"),
    "new keys": ("a = {}", "a['p'], a['q'] = {}", "a['p'] * a['q']"),
    "attributes": ("o = Pair()", "o.p, o.q = {}", "o.p * o.q"),
    "nested": ("a = np.zeros(3)", "(a[0], r), s = {}, 2.0 * x[0]", "a[0] * r * s"),
    "nested names": ("", "(p, r), s = {}, 2.0 * x[0]", "p * r * s"),
    "an item and a star": ("a = np.zeros(3)", "a[0], *rest = {}", "a[0] * rest[0]"),
    "a star and an item": ("a = np.zeros(3)", "*rest, a[0] = {}", "a[0] * rest[0]"),
    "a star inside": ("", "(p, *rest), s = {}, 3.0 * x[1]", "p * rest[0] * s"),
    "a name twice": ("", "p, p = {}", "p * x[0]"),
    "a name twice, nested": ("", "s, (s, r) = 2.0 * x[0], {}", "s * r"),
    "a name twice, swapped": ("", "s, (r, s) = 2.0 * x[0], {}", "s * r"),
    "a name twice and an item": ("a, p = np.zeros(3), x[1]", "(p, a[0]), p = {}, p", "a[0] * p"),
    "a name and its star": ("", "p, *p = {}", "p[0] * x[0]"),
    "two targets": ("a = np.zeros(3)", "a[0], a[1] = w = {}", "a[0] * a[1] * w[0]"),
    "an index that is bound later": ("a, i = np.zeros(3), 1", "a[i], i = {}", "a[1] * i"),
    "an index that is bound before": ("a = np.zeros(3)", "i, a[i.astype(int)] = {}", "a[1] * i"),
}
VALUES = {
    "a call": "pair(x)",
    "a call of a longer function": "powers(x)",
    "a variable": "t",
    "an array": "x",
    "arithmetic": "x * x",
    "a part": "x[:2]",
    "a tuple": "(x[0] * x[1], x[1])",
    "a list": "[x[0] * x[1], x[1]]",
    "a list with a name": "given",
    "divmod": "divmod(x[0], x[1])",
    "NumPy's divmod": "np.divmod(x[0], x[1])",
    "modf": "np.modf(x[0])",
    "a comprehension": "[2.0 * u for u in x]",
    "map": "map(np.sin, x)",
    "a branch": "(pair(x) if x[0] > 0.0 else t)",
    "np.split": "np.split(x, 2)",
    "a lambda": "(lambda u: (u[0] * u[1], u[1]))(x)",
    "the other way round": "(x[1], x[0])",
    "a matrix": "np.outer(x, x)",
    "an item": "table[1]",
}
LOOPED = ("a call", "a variable", "an array", "a list with a name", "divmod", "a branch")
REFUSED = {  # of these forms some are not accepted; none is wrong
    "an item and a star", "a star and an item", "a star inside", "nested", "nested names", "two targets",
    "a name and its star", "a name twice, nested",
}  # fmt: skip
HEAD = """
import dataclasses
import numpy as np

@dataclasses.dataclass
class Pair:
    p: float = 0.0
    q: float = 0.0

def pair(x):
    return x[0] * 2.0, x[1] * x[1]

def powers(x):
    y = np.sin(x)
    for i in range(len(x)):
        y = y * x
    return y
"""


def program(target: str, value: str, looped: bool) -> str:
    before, statement, result = TARGETS[target]
    lines = ["t = pair(2.0 * x)", "given = [x[0] * x[1], x[1]]", "table = [(x[1], x[1]), (x[0] * x[1], x[1])]"]
    lines = [line for line in lines if line.split()[0] in VALUES[value]]
    lines += [before] if before else []
    lines += ["r = 0.0", "for k in range(2):"] if looped else []
    lines.append("    " * looped + statement.format(VALUES[value]))
    if looped:
        lines += [f"    r = r + {result} * (k + 1.0)", "    x = 1.2 * x"]
    lines.append(f"return {'r' if looped else result} + np.sum(x)")
    return "def f(x):\n" + "".join(f"    {line}\n" for line in lines)


def made(text: str, name: str) -> Any:
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope: dict[str, Any] = {}
    exec(compile(text, file, "exec"), scope)
    return scope["f"]


def is_valid(f: Any) -> bool:
    """Whether Python itself accepts a combination, and it gives a number."""
    try:
        return bool(np.ndim(f(X.copy())) == 0)
    except (TypeError, ValueError, IndexError, AttributeError):
        return False


X = np.array([0.7, 1.3])


@pytest.mark.parametrize("target", TARGETS)
def test_every_form_of_value_is_unpacked_into_a_target(target):
    tried = right = 0
    for value in VALUES:
        for looped in (False, True) if value in LOOPED else (False,):
            f = made(HEAD + program(target, value, looped), f"{target} of {value} {looped}")
            if not is_valid(f):
                continue
            tried += 1
            try:
                given = X.copy()
                y, g = srcgrad.value_and_grad(f)(given)
                slopes = [srcgrad.jvp(f, (given,), (one,)) for one in np.eye(2)]
            except srcgrad.DifferentiationError:
                assert target in REFUSED, (target, value, looped)
                continue
            right += 1
            # central differences of step 1e-6 of values below 100: errors of 1e-8 of rounding and of the third order
            wanted = [(f(X + one) - f(X - one)) / 2e-6 for one in np.eye(2) * 1e-6]
            assert np.allclose(g, wanted, rtol=1e-6, atol=1e-6), (target, value, looped)
            assert np.allclose([slope for _, slope in slopes], g, rtol=1e-9, atol=1e-9), (target, value, looped)
            assert y == f(X.copy()) and np.array_equal(given, X)
    assert tried >= 2 and right >= tried / 2


CELL = """
import numpy as np

def cell(h, c, u, w):
    f = 1.0 / (1.0 + np.exp(-(w[0] * u + w[1] * h)))
    g = np.tanh(w[2] * u + w[3] * h)
    c = f * c + (1.0 - f) * g
    return np.tanh(c) * f, c
"""
LSTM = (
    CELL
    + """
def f(w, us):
    n = len(us)
    hs, cs = np.zeros(n + 1), np.zeros(n + 1)
    for i in range(n):
        hs[i + 1], cs[i + 1] = cell(hs[i], cs[i], us[i], w)
    return np.sum(hs * hs)
"""
)


@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_a_recurrent_cell_stores_both_of_its_results_in_arrays(target):
    f = made(LSTM, f"recurrent cell {target}")
    w, us = np.array([0.3, -0.4, 0.8, 0.5]), np.linspace(-1.0, 1.0, 5)
    wanted = [(f(w + one, us) - f(w - one, us)) / 2e-6 for one in np.eye(4) * 1e-6]
    y, g = srcgrad.value_and_grad(f, target=target)(w, us)
    assert np.isclose(y, f(w, us)) and np.allclose(g, wanted, rtol=1e-6, atol=1e-8)


def test_targets_of_loops_are_stored_at_the_head_of_each_trip():
    text = """
import numpy as np

def f(x):
    a, b, total = np.zeros(2), {}, 0.0
    for a[0], (b["p"], *rest) in zip(x, [(x[0], x[1], 2.0), (x[1], x[0] * x[1], 3.0)]):
        total = total + a[0] * b["p"] * rest[0]
    for a[1] in x:
        total = total + a[1] * a[1]
    return total + a[0] * b["p"]
"""
    f = made(text, "targets of loops")
    wanted = [(f(X + one) - f(X - one)) / 2e-6 for one in np.eye(2) * 1e-6]
    assert np.allclose(srcgrad.grad(f)(X), wanted, rtol=1e-6)


def test_items_unpacked_in_helpers_and_nested_functions():
    text = """
import numpy as np

def store(a, x, k):
    a[0], a[1] = x * k, x * x

def fill(a, v):
    a[-1], *others = v
    a[0], a[1] = others
    return a

def f(x):
    a = np.zeros(3)
    store(a, x[0], 2.0)
    b = fill(np.zeros(3), np.array([x[1], x[0] * x[1], a[1]]))
    def inner(v):
        c = np.zeros(2)
        (c[0], c[1]), s = (v * v, v), 3.0
        return c[0] * c[1] * s
    more = inner(x[1])
    return np.sum(a * b) + more
"""
    f = made(text, "helpers that unpack into items")
    wanted = [(f(X + one) - f(X - one)) / 2e-6 for one in np.eye(2) * 1e-6]
    assert np.allclose(srcgrad.grad(f)(X), wanted, rtol=1e-6)
    assert np.allclose([srcgrad.jvp(f, (X,), (one,))[1] for one in np.eye(2)], wanted, rtol=1e-6)


@pytest.mark.parametrize("held", ["item", "items", "value", "key", "held", "place", "i", "k", "others", "array", "x"])
def test_lists_and_arrays_may_have_any_name(held):
    text = f"""
import numpy as np

def f(v, {held}_given):
    {held} = [2.0 * u for u in v]
    {held}.append(v[0] * v[1])
    {held}.insert(1, v[1])
    last = {held}.pop(1)
    {held}[0] = last
    {held} += [v[1] ** 3]
    a, *b = {held}
    return a * b[0] * b[1]

def g({held}, w):
    {held}[0] = w[1] * {held}[1]
    return np.sum({held} * w)
"""
    f = made(text.replace(f", {held}_given", ""), f"lists called {held}")
    g = f.__globals__["g"]
    wanted = [(f(X + one) - f(X - one)) / 2e-6 for one in np.eye(2) * 1e-6]
    assert np.allclose(srcgrad.grad(f)(X), wanted, rtol=1e-6)
    assert np.allclose(srcgrad.grad(g)(X, X.copy()), [0.0, X[0] * X[1] + X[1]])


def _volume(a, b=2.0, *, c=3.0):
    return a * b * c


def _unpacked(x, sides, options):
    first = [x, *sides]
    merged = {"c": 1.0, **options, "b": x}
    return _volume(*sides[:2]) + _volume(x, **merged) + _volume(*first[1:2], **options)


def _grown(x, sides):
    sides.append(x)
    return _volume(*sides)


def test_stars_of_what_is_known() -> None:
    check_grads(_unpacked, (0.7, (0.3, 0.5, 0.9), {"c": 1.3}), order=2)


def test_a_list_that_grows_is_not_known() -> None:
    with pytest.raises(DifferentiationError):
        grad(_grown)(0.7, [0.3])


def copied_first(c):
    c = dict(c)
    c["b"] = c["a"] * 2.0
    return c["b"] * np.sum(c["a"])


def copied_by_method(c):
    held = c.copy()
    held["a"] = held["a"] * 3.0
    return np.sum(held["a"] * c["a"])


def copied_with_another_key(c):
    return np.sum(dict(c, b=2.0, a=c["a"] ** 2)["a"]) * dict(c, b=2.0)["b"]


@pytest.mark.parametrize("f", [copied_first, copied_by_method, copied_with_another_key])
def test_a_copy_of_a_dict_that_is_differentiated_has_its_keys(f):
    c = {"a": 3.0, "unused": np.ones(2)}
    srcgrad.check_grads(f, (c,), order=1)
    assert list(c) == ["a", "unused"]


def test_a_copy_of_a_dict_that_the_statement_changes_is_no_copy_of_its_keys():
    def popped(c):
        c = dict(c, b=c.pop("a"))
        return sum(c.values())

    def changed(c):
        c["b"] = 2.0 * c["a"]
        held = c.copy()
        return held["b"]

    for f in (popped, changed):
        with pytest.raises(DifferentiationError):
            srcgrad.grad(f)({"a": 3.0})
