"""A call in a text that is differentiated again, and the statements that take its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any  # helpers are arbitrary functions

import gast
import numpy as np

from srcgrad.converted import literal_value, parsed
from srcgrad.facts import Facts
from srcgrad.front.namespace import Binding
from srcgrad.front.overlay import Overlay
from srcgrad.front.resolve import binding_of
from srcgrad.runtime.flow import method_of
from srcgrad.runtime.flow_adjoint import doubled, flow_adjoint, tangent_size
from srcgrad.runtime.odes import states
from srcgrad.runtime.quadrature import check_numbers, check_steady
from srcgrad.runtime.roots import check_slopes
from srcgrad.runtime.structure import zeros_like
from srcgrad.trees import Block, Node, at, expression, statements, stores, substitute, walk

if TYPE_CHECKING:
    from srcgrad.front.plain import Plain

HELPERS = {
    "np": np,
    "check_numbers": check_numbers,
    "check_slopes": check_slopes,
    "check_steady": check_steady,
    "doubled": doubled,
    "flow_adjoint": flow_adjoint,
    "method_of": method_of,
    "states": states,
    "tangent_size": tangent_size,
    "zeros_like": zeros_like,
}


class Call:
    """One such call: its arguments by name, and the statements that take its place."""

    def __init__(self, arguments: tuple[str, ...], call: Node, where: Node, before: Block, work: Plain) -> None:
        self.where, self.before, self.work = where, before, work
        self.parts: dict[str, Any] = dict(zip(arguments, call.args, strict=True))
        words = {word.arg: word.value for word in call.keywords}
        places = literal_value(words.pop("places")) if "places" in words else None
        args = self.parts.pop("args")
        self.known = isinstance(args, gast.Tuple) or getattr(args, "value", args) is None
        if not self.known:
            return
        self.elements: list[Node] = list(getattr(args, "elts", []))
        self.count = len(self.elements)
        self.places: tuple[int, ...] = tuple(range(self.count)) if places is None else places
        derivative = binding_of(self.parts["derivative"], work.facts, work.facts.local)
        self.words: list[str] = []
        if derivative is not None and work.facts.module is not None:
            function = derivative.static if derivative.static is not None else derivative.object
            self.words = [one.id for one in work.facts.module.source(function)[0].tree.args.kwonlyargs]
        dots = self.parts.pop("dots", None)
        self.parts |= {f"_{k}": one for k, one in enumerate(self.elements)}
        self.parts |= {f"_{k}_dot": one for k, one in enumerate(getattr(dots, "elts", []))}
        self.primals = "".join(f", _{k}" for k in range(self.count))
        self.given = words
        self.parts |= {f"given_{word}": value for word, value in words.items()}
        self.options = "".join(f", {word}=given_{word}" for word in words)

    def write(self, text: str, **facts: Any) -> None:
        """Add statements, in which names mean the arguments of the call, names of their own, and functions of ours."""
        block = parsed(text.format(**{"primals": self.primals, "options": self.options, **facts})).body
        for node in block:
            made = substitute(node, self._fresh(node))
            for item in walk(made):
                at(item, self.where)
            self.work.facts.foreign.update(dict.fromkeys(statements([made])))
            self.before.append(made)

    def _fresh(self, node: Node) -> dict[str, Any]:
        """What names mean in a statement, with new ones for those that it binds."""
        bound = [one for each in statements([node]) for one in stores(each)]
        if isinstance(node, gast.FunctionDef):
            bound += [n.id for n in walk(node) if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)]
        for one in bound:
            if one not in self.parts:
                self.parts[one] = self.work.facts.names.fresh(one)
                self.work.facts.local |= {self.parts[one]}
        if isinstance(node, gast.FunctionDef):
            node.name = self.parts[node.name]
        for helper in {n.id for n in walk(node) if isinstance(n, gast.Name)} & set(HELPERS):
            self.parts.setdefault(helper, library(helper, HELPERS[helper], self.work.facts))
        return self.parts

    def dots(self, words: list[str], value: str) -> str:
        """The keywords of a derivative that takes tangents."""
        return "".join(f", {word}={value.format(k)}" for word, k in zip(words, self.places, strict=True))

    def each(self, made: dict[int, str]) -> str:
        """A tuple with one entry for each argument, None for those that have no adjoint."""
        return "(" + "".join(f"{made.get(k)}, " for k in range(self.count)) + ")"

    def result(self, text: str) -> Node:
        """An expression over the names of the statements."""
        return expression(text, **self.parts)


def library(spelled: str, value: Any, facts: Facts) -> str:
    """The name by which a text that is read calls a function of ours."""
    made = facts.library(spelled, value)
    facts.namespace = Overlay(facts.namespace, {made: Binding("object", value)})
    return made
