"""Derivatives that a function asks for in its body: `grad(g)(x)`, `jvp(g, (x,), (v,))`, `y, pullback = vjp(g, x)`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar  # functions of srcgrad are arbitrary objects

import gast

from srcgrad.converted import literal_value
from srcgrad.front.resolve import binding_of
from srcgrad.trees import Node

if TYPE_CHECKING:
    from srcgrad.facts import Facts
    from srcgrad.front.functions import Function

MAKERS = ("reverse", "value-and-grad", "elementwise", "hvp", "jacobian", "hessian")  # what is made is a function
F = TypeVar("F", bound=Callable[..., Any])
OPTIONS = {"wrt", "argnums", "has_aux", "mode", "target"}


@dataclass(frozen=True)
class Wanted:
    """A derivative of a function: in which mode, with respect to what; `tangents` are those of a call of `jvp`."""

    mode: str  # a mode of the pipeline, or jacobian, hessian
    of: Function
    wrt: tuple[int | str, ...] | None = (0,)  # None: every argument
    single: bool = True
    auxiliary: bool = False
    tangents: tuple[Node, ...] = ()


def makes(mode: str) -> Callable[[F], F]:
    """A decorator that marks a function of srcgrad as one that makes derivatives."""

    def mark(function: F) -> F:
        function.__srcgrad_makes__ = mode  # type: ignore[attr-defined]
        return function

    return mark


def made_by(node: Node, facts: Facts, local: frozenset[str]) -> str:
    """The mode of a call of `grad`, `jvp` and the like; empty for any other expression."""
    if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Name | gast.Attribute):
        return ""
    found = binding_of(node.func, facts, local)
    if found is None or found.kind != "object" or found.static is not None:
        return ""
    return str(getattr(found.object, "__dict__", {}).get("__srcgrad_makes__", ""))


def wanted_of(call: Node, mode: str, of: Function, facts: Facts) -> Wanted:
    """What a call such as `grad(g, wrt=(0, "b"))` asks for; E5005 where that is not written in the call itself."""
    given: dict[str, Any] = {}
    if mode in MAKERS and len(call.args) > 1:
        given["wrt"] = _literal(call.args[1], facts)
    for word in call.keywords:
        if word.arg not in OPTIONS:
            raise facts.refuse(word.value, "E5005", f"`{word.arg}=` is no option of a derivative", "leave it out")
        given[word.arg] = _literal(word.value, facts)
    if given.get("target", "numpy") != "numpy":
        raise facts.refuse(
            call, "E5019", "a derivative inside of a function runs where the function does", "leave `target` out"
        )
    asked = given.get("wrt", 0 if mode not in ("vjp", "linearize") else None)
    asked = asked if given.get("argnums") is None else given["argnums"]
    every = asked is None or (asked == "all" and given.get("argnums") == "all")
    wrt = None if every else tuple(asked) if isinstance(asked, tuple | list) else (asked,)
    single = not every and not isinstance(asked, tuple | list)
    return Wanted(mode, of, wrt, single, bool(given.get("has_aux", False)))


def not_known(call: Node, facts: Facts) -> Exception:
    """The refusal of a derivative of something that is not known to be a function."""
    return facts.refuse(
        call,
        "E5003",
        "the function to differentiate is not known before the call runs",
        "name a function: of a module, one that stands in this function, or an argument of it",
    )


def _literal(node: Node, facts: Facts) -> Any:
    try:
        return literal_value(node)
    except (ValueError, TypeError):
        raise facts.refuse(
            node, "E5005", "an option of a derivative that is not a literal", "write the value here: `wrt=0`"
        ) from None
