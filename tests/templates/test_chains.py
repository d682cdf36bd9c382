"""Deriving a chain of statements takes calls in proportion to its length, whatever the statements are."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import srcgrad
from tests.templates.chains import LONG, MOST, SURE, calls, defined, drawn, growth, of_rule

RULES = drawn()
PARTS = 24  # so that the processes of a test run share the work
NAMES = {"np": np, "math": math, "srcgrad": srcgrad}
VECTOR, MATRIX = np.linspace(0.5, 1.5, 3), np.linspace(0.5, 1.5, 9).reshape(3, 3)
HEAD = "    a0 = 2.0 * x\n    a1 = 3.0 * x\n"


@pytest.mark.parametrize("part", range(PARTS))
def test_of_rules(part: int) -> None:
    found = {rule.name: of_rule(rule, "reverse") for rule in RULES[part::PARTS]}
    assert {name: times for name, times in found.items() if times is not None and times > MOST} == {}
    refused = [name for name, times in found.items() if times is None]
    assert len(refused) <= max(1, len(found) // 4), refused  # what gives several results, say


def chain(statement: str, head: str = "", tail: str = "np.sum({z})") -> Callable[[int], str]:
    """A function of so many statements; b and c stand for the last two results."""

    def source(count: int) -> str:
        lines = [statement.format(a=f"a{k}", b=f"a{k - 1}", c=f"a{k - 2}") for k in range(2, count + 2)]
        body = "".join(f"    {line}\n" for each in lines for line in each.split("\n"))
        return f"def f(x):\n{HEAD}{head}{body}    return {tail.format(z=f'a{count + 1}')}\n"

    return source


# Among them: divisions by powers, new axes, second names, views, lists, lengths of what is joined and cut.
STATEMENTS = {
    "{a} = {b} ** 2 + 0.5 * {c}": 0.3,
    "{a} = {b} / {c} ** 2 + {c}": VECTOR,
    "{a} = {b} / (1.0 + {c} ** 2)": VECTOR,
    "{a} = ({b}[:, None] * {c} - {b})[0]": VECTOR,
    "{a} = -({b} * {c}) * -{b} / -{c}": VECTOR,
    "{a} = {b} ** {c} + {b}": VECTOR,
    "{a} = np.where({b} > {c}, {b} * {c}, {b} / {c})": VECTOR,
    "if {b}[0] > 0.0:\n    {a} = {b}\nelse:\n    {a} = {c}": VECTOR,
    "{a} = {b} * {c} if {b}[0] > 0.0 else {b} - {c}": VECTOR,
    "{a} = {b} + {c}\n{a} += {b}\n{a} *= {c}": VECTOR,
    "{a} = np.zeros(3)\n{a}[:] = {b}\n{a}[0] = {c}[1] * {b}[0]": VECTOR,
    "{a} = np.zeros(3)\nfor i in range(3):\n    {a}[i] = {b}[i] * {c}[i]": VECTOR,
    "{a} = 0.0 * {b}\nfor i in range(2):\n    {a} = {a} + {b} * {c}[i]": VECTOR,
    "{a} = {b}.T + {c}.reshape(3, 3)": MATRIX,
    "{a} = {b} @ {c} + {b}": MATRIX,
    "{a} = np.stack([{b}, {c}])[0] + np.concatenate([{b}, {c}])[:3]": VECTOR,
    "{a} = np.concatenate([{b}[1:] + {c}[:-1], {b}[:1]])": VECTOR,
    "{a} = {b}[1:] * {c}[:-1] + {b}[:-1]": np.ones(99),
    "{a} = {b}.sum(axis=1, keepdims=True) * {c} + {c}.sum(axis=0, keepdims=True)": MATRIX,
    "l{a} = [{b}, {c}]\n{a} = l{a}[0] * l{a}[1] + {b}": VECTOR,
    "d{a} = {{'p': {b}, 'q': {c}}}\n{a} = d{a}['p'] * d{a}['q'] - {c}": VECTOR,
    "{a} = {b} * {b}.shape[0] + np.ones_like({c}) * {c}": VECTOR,
    "{a} = np.conj({b}) * {c} + {b}.real": VECTOR * 1j,
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_of_statements(statement: str) -> None:
    argument = STATEMENTS[statement]
    tail = "np.sum(np.abs({z}))" if np.iscomplexobj(argument) else "np.sum({z})"
    assert growth(chain(statement, tail=tail), NAMES, (argument,)) <= MOST


@pytest.mark.parametrize("mode", ["forward", "hvp", "vjp"])
@pytest.mark.parametrize("statement", [*STATEMENTS][1:4])
def test_of_modes(statement: str, mode: str) -> None:
    assert growth(chain(statement), NAMES, (VECTOR,), mode) <= MOST


@pytest.mark.parametrize("target", ["numba", "opencl"])
@pytest.mark.parametrize("statement", [*STATEMENTS][1:4])
def test_of_targets(statement: str, target: str) -> None:
    """The loops and the kernels of a text are found in calls that grow no faster."""
    short, long = (calls(defined(chain(statement)(n), NAMES), (VECTOR,), target=target) for n in (LONG // 2, LONG))
    assert long <= MOST * short


def test_of_quotients() -> None:
    """That `1 + a ** 2` is never 0 tells whether what divides by it is finite: asked once for each statement."""
    assert growth(chain("{a} = {b} / (1.0 + {c} ** 2)"), NAMES, (VECTOR,), counts=(40, 80)) <= MOST


def test_of_sums_in_loops() -> None:
    """Whether the halves of a loop may be one is asked of the names that it has, not of all statements around it."""
    statement = "s{a} = 0.0\nfor v in {b}:\n    s{a} = s{a} + np.sin(v)\n{a} = {c} * s{a}"
    assert growth(chain(statement), NAMES, (VECTOR,), counts=(40, 80)) <= SURE


LOOPS = {
    "for": "    for _ in range(3):\n{body}        a0, a1 = a{n}, a{m}\n",
    "while": "    i = 0\n    while i < 3:\n{body}        a0, a1 = a{n}, a{m}\n        i += 1\n",
    "left": "    while True:\n{body}        a0 = a{n}\n        a1 = a{m}\n        if a1[0] < 9.0:\n            break\n",
    "with": "    with np.errstate(all='ignore'):\n{body}        a1 = a{m}\n",
}


@pytest.mark.parametrize("loop", LOOPS)
def test_of_bodies(loop: str) -> None:
    """Many statements in a loop, most of whose values are kept."""

    def source(count: int) -> str:
        lines = [f"        a{k} = a{k - 1} / a{k - 2} ** 2 + a{k - 2}\n" for k in range(2, count + 2)]
        body = LOOPS[loop].format(body="".join(lines), n=count, m=count + 1)
        return f"def f(x):\n{HEAD}{body}    return np.sum(a1)\n"

    assert growth(source, NAMES, (VECTOR,), counts=(30, 60)) <= MOST


def test_of_comprehensions() -> None:
    statement = "l{a} = [v * {b}[0] for v in {c}]\n{a} = np.array(l{a}) + {b}"
    assert growth(chain(statement), NAMES, (VECTOR,), counts=(30, 60)) <= MOST


def test_of_parts_of_a_dict() -> None:
    statement = "d['p'] = np.sin(d['q']) + d['p']\nd['q'] = 0.9 * d['p']"
    source = chain(statement, head="    d = {'p': a0, 'q': a1}\n", tail="d['q']")
    assert growth(source, NAMES, (VECTOR,), counts=(30, 60)) <= MOST


def helpers(depth: int) -> str:
    """Functions of which each calls the one below twice."""
    lines = ["def h0(x):\n    a = np.sin(x)\n    return a * x\n"]
    for k in range(1, depth + 1):
        lines.append(
            f"def h{k}(x):\n    a = h{k - 1}(x)\n    b = h{k - 1}(0.9 * x)\n    return np.tanh(0.5 * a + 0.4 * b)\n"
        )
    return "\n".join(lines) + f"\ndef f(x):\n    return np.sum(h{depth}(x))\n"


@pytest.mark.parametrize("mode, target", [("reverse", "numpy"), ("forward", "numpy"), ("reverse", "opencl")])
def test_of_helpers(mode: str, target: str) -> None:
    """Helpers that each call two others are derived once, however often they are called."""
    short, long = (calls(defined(helpers(n), NAMES), (VECTOR,), mode, target) for n in (6, 12))
    assert long <= MOST * short


@pytest.mark.parametrize("mode, target", [("hvp", "numpy"), ("reverse", "numba")])
def test_of_helpers_written_out(mode: str, target: str) -> None:
    """The text doubles with each level here, since helpers are written out in it; the calls do so, and no more."""
    calls(defined(helpers(2), NAMES), (VECTOR,), mode, target)
    short, long = (calls(defined(helpers(n), NAMES), (VECTOR,), mode, target) for n in (4, 6))
    assert long <= 4.5 * short


def test_of_helpers_is_right() -> None:
    f = defined(helpers(12), NAMES)
    gradient, step = srcgrad.grad(f)(VECTOR), 1e-6 * np.eye(3)
    found = [(f(VECTOR + one) - f(VECTOR - one)) / 2e-6 for one in step]
    assert gradient == pytest.approx(found, rel=1e-6)
    assert gradient == pytest.approx([srcgrad.jvp(f, (VECTOR,), (one * 1e6,))[1] for one in step], rel=1e-12)
