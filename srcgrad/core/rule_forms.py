"""What rules say beside derivatives: complex numbers, views, operations written out with others.

Operations whose result may be a part of an argument, or the argument itself.

Which rules hold for complex numbers: what a family of templates says of operations that have a rule.

Operations that are written out with others where a call gives what their rule does not handle: `np.std(x, where=m)`.

The rule stays what it is for all other calls, so that their text does.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any  # operations are arbitrary Python objects

import gast

from srcgrad.core.identity import key_of
from srcgrad.core.rules import Form, Rule, compositions, replace_rule, rule_of
from srcgrad.core.trees import Node
from srcgrad.runtime import fit_to, sum_to

FITTED = (sum_to, fit_to)  # what fits is handed on as it is: the first argument, never the second


def may_show(function: Any, given: Mapping[str, Node]) -> bool:
    """Whether the result of an operation may be one of its arguments, or show elements of one.

    `given` are the arguments of the call, by name.
    """
    rule = rule_of(function)
    if rule is None or any(function is one for one in rule.copying):
        return False
    return rule.result != "new" or any(_may_be(given.get(one), values) for one, values in rule.showing.items())


def _may_be(given: Node | None, values: tuple[Any, ...]) -> bool:
    """Whether an argument may have one of some values; one that is left out has none of them."""
    return given is not None and (not isinstance(given, gast.Constant) or given.value in values)


def arguments_of(function: Any, call: Node, first: Iterable[Node] = ()) -> dict[str, Node]:
    """The arguments of a call by the parameters of its rule; `first` come before those that it writes."""
    rule = rule_of(function)
    positional = zip(() if rule is None else rule.parameters, (*first, *call.args), strict=False)
    return {**dict(positional), **{word.arg: word.value for word in call.keywords if word.arg is not None}}


def accept_complex(ops: Iterable[Any], how: str, values: str = "") -> None:
    """Say of operations with a rule how their adjoint lines hold for complex numbers.

    `how` is "conjugated" (the engine conjugates what `d[result]` is multiplied with; the tangent is as written),
    "gradient" (of a real result; the tangent is the real part of the conjugated lines) or "written" (as they are).
    `values` says when the result is complex: "real" never, "complex" always, the name of a parameter: as that one is;
    "": where a differentiable argument is.
    """
    for op in ops:
        known = rule_of(op)
        assert known is not None, "what has no rule yet has nothing to accept"
        replace_rule(known, replace(known, complex=how, values=values))


@dataclass(frozen=True)
class OtherForm:
    """A composition, and the calls for which it stands: those that give a parameter named in `given`.

    A parameter has to be one of the literals that are listed with it, if any are. Of several for one operation the
    first that a call asks for stands for it.
    """

    composition: Callable[..., Any]
    given: dict[str, tuple[Any, ...]]
    positions: dict[int, str] = field(default_factory=dict)


_known: dict[Any, list[OtherForm]] = {}


def declare_other_form(
    op: Any, forms: tuple[Form, ...], positions: dict[int, str] | None = None, **given: tuple[Any, ...]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Write the op out for calls that give one of these parameters: `otherwise(np.pad, FORMS, mode=("mean",))`.

    `positions` are the places at which such parameters may stand, too.
    """
    rule = rule_of(op)
    assert rule is not None, "a rule that holds for all other calls comes first"
    replace_rule(rule, replace(rule, forms=(*rule.forms, *forms)))

    def decorate(composition: Callable[..., Any]) -> Callable[..., Any]:
        _known.setdefault(key_of(op), []).append(OtherForm(composition, given, positions or {}))
        compositions.add(composition)
        return composition

    return decorate


def written_out(rule: Rule, arguments: list[Node], keywords: list[Node]) -> Callable[..., Any] | None:
    """The composition that stands for a call; None where the rule itself does."""
    for op in (rule.op, *rule.aliases):
        for held in _known.get(key_of(op), ()):
            if any(_asks(held.given, *pair) for pair in _pairs(held, arguments, keywords)):
                return held.composition
    return None


def compositions_beside(rule: Rule) -> list[Callable[..., Any]]:
    """The compositions of a rule that hold for some calls only."""
    return [held.composition for held in _known.get(key_of(rule.op), ())]


def _pairs(held: OtherForm, arguments: list[Node], keywords: list[Node]) -> Iterator[tuple[str | None, Node]]:
    yield from ((held.positions.get(place), value) for place, value in enumerate(arguments))
    yield from ((word.arg, word.value) for word in keywords)


def _asks(given: dict[str, tuple[Any, ...]], parameter: str | None, value: Node) -> bool:
    if parameter not in given:
        return False
    wanted: Container[Any] = given[parameter]
    return not wanted or (isinstance(value, gast.Constant) and value.value in wanted)
