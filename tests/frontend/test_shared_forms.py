"""What the front has made of a function serves all who ask of it, and the text is that which it would make anew."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast
import numpy as np
import pytest

import srcgrad
from srcgrad import module
from srcgrad.core.facts import SCALAR, AskedKinds, Kind, inner_kinds, numbers
from srcgrad.pipeline import FRONT, SharedFront


def cell(weight: Any, hidden: Any, memory: Any) -> Any:
    gate = 1.0 / (1.0 + np.exp(-weight * hidden))
    memory = gate * memory + np.tanh(hidden)
    return np.tanh(memory) * gate, memory


def recurrent(weight: Any, rows: Any) -> Any:
    hidden, memory = rows[0], np.ones(3)
    for row in rows:
        hidden, memory = cell(weight, hidden + row, memory)
    return np.sum(hidden)


def part(x: Any, place: Any) -> Any:
    view = x[place]
    return view * x[place + 1]


def picked(x: Any, rows: Any) -> Any:
    total = np.sum(part(rows, 0)) * x[0]
    for place in range(2):
        total = total + part(x, place)
    return total


def named(values: Any, more: Any) -> Any:
    return values["a"] * more


def of_dicts(x: Any, rows: Any) -> Any:
    return np.sum(named({"a": x}, 2.0) + named({"a": rows}, x))


def text_of(function: Callable[..., Any]) -> str:
    derivative = srcgrad.value_and_grad(function, (0, 1))
    derivative(np.array([0.1, 0.2, 0.3]), np.arange(9.0).reshape(3, 3))
    return str(derivative.source)


@pytest.mark.usefixtures("nothing_kept")
@pytest.mark.parametrize("function", [recurrent, picked, of_dicts])
def test_the_text_is_that_of_a_front_of_its_own(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    together = text_of(function)
    monkeypatch.setattr(SharedFront, "serves", lambda self, kinds: False)
    assert text_of(function) == together


@pytest.mark.usefixtures("nothing_kept")
def test_the_front_of_a_callee_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    prepared = module.prepare_facts

    def counted(source: Any, *given: Any) -> Any:
        begun.append(source.name)
        return prepared(source, *given)

    monkeypatch.setattr(module, "prepare_facts", counted)
    text_of(recurrent)
    assert begun == ["cell"]


@pytest.mark.usefixtures("nothing_kept")
def test_what_serves_is_what_the_front_would_make(monkeypatch: pytest.MonkeyPatch) -> None:
    begin, served = SharedFront.begin, []

    def compared(self: SharedFront, kinds: dict[str, Kind]) -> Any:
        facts, tree = begin(self, kinds)
        namespace = next(own for _, source, own in facts.module.sources.values() if source is facts.source)
        anew, other = module.prepare_facts(
            facts.source, namespace, "reverse", facts.request.wrt, dict(kinds), facts.module
        )
        anew.request = replace(anew.request, called=True)
        for each in FRONT:
            other = each(other, anew)
        assert gast.unparse(tree) == gast.unparse(other)
        tables = operator.attrgetter(
            *("kinds.of_names", "kinds.arguments", "kinds.lists", "names.base", "names.temporaries", "names.imports"),
            *("values.integers", "activity.varied"),
        )
        assert tables(facts) == tables(anew)
        served.append(dict(kinds))
        return facts, tree

    monkeypatch.setattr(SharedFront, "begin", compared)
    text_of(recurrent)
    assert len(served) > 1


def test_kinds_note_what_is_asked_of_them() -> None:
    kinds = {"x": Kind("array", 1), "n": SCALAR, "p": Kind("dict")}
    asked = AskedKinds(kinds)
    assert inner_kinds(asked) == [("p", Kind("dict"))]
    assert numbers(asked) == {"n"} == asked.numbers
    assert not asked.told
    for ask in (
        lambda known: known.get("x"),
        lambda known: known["x"],
        lambda known: "x" in known,
        lambda known: known.items(),
        lambda known: known.values(),
        lambda known: {**known},
        lambda known: known.__setitem__("x", SCALAR),
    ):
        other = AskedKinds(kinds)
        ask(other)
        assert other.told
