"""What a caller learns of a function from its text: of the result, of what flows into it, of what it returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any  # a module of text, and kinds of arbitrary objects

import gast

from srcgrad.analyse.active import activity, flows
from srcgrad.analyse.alias import is_new
from srcgrad.analyse.complexes import complexes, may_be_complex
from srcgrad.analyse.containers import containers
from srcgrad.analyse.shapes import shapes
from srcgrad.analyse.shifts import shifts
from srcgrad.facts import UNKNOWN, Facts, Kind, Spec
from srcgrad.front.namespace import Namespace
from srcgrad.front.source import Source
from srcgrad.front.step import Step
from srcgrad.front.webs import parameters
from srcgrad.kinds import Asked, of_display
from srcgrad.pipeline import FRONT, Begun, prepared
from srcgrad.shared import shared
from srcgrad.trees import Node


@dataclass
class Outcome:
    """What is known of a function's result, for arguments of some kinds; nothing where its text is refused.

    `begun` is what is left to look at: of a result whose kind is asked for, shapes need not be known.
    """

    kind: Kind = UNKNOWN
    spec: Any = None  # a spec, or a tuple of specs
    complex: bool = True
    begun: Begun | None = None

    @property
    def is_lost(self) -> bool:
        """Whether a derivative has taken the tree of which something is left to look at."""
        return self.begun is not None and self.begun.shared is not None and self.begun.shared.taken

    def complete(self) -> Begun:
        """Look at all that is not known yet."""
        begun, self.begun, self.kind = self.begun, None, UNKNOWN  # a recursive call learns nothing
        assert begun is not None, "there is something left"
        begun.advance((shifts, activity, complexes, shapes))
        facts, value = begun.facts, begun.tree.body[-1].value
        self.kind, self.complex = of_display(value, facts.kinds), may_be_complex(value, facts)
        several = isinstance(value, gast.Tuple)
        specs = tuple(facts.spec.get(item, Spec(ndim=None)) for item in value.elts) if several else ()
        self.spec = specs if several else facts.spec.get(value)
        return begun


def outcome(
    source: Source,
    namespace: Namespace,
    kinds: dict[str, Kind],
    module: Any,
    step: Step | None = None,
    passive: bool = False,
) -> Outcome:
    """What is known of a function's result, for arguments of these kinds: so far its kind.

    `passive` looks at one that cannot be differentiated by all of its arguments: by a generator of random numbers, say.
    """
    place = (id(source.tree), id(step), passive)
    known = module.fronts.get(place)
    if known is None or not known.serves(kinds):
        wrt = () if passive else tuple(parameters(source.tree))
        facts, tree = prepared(source, namespace, "reverse", wrt, kinds, module, step)
        facts.called, facts.kinds = True, Asked(kinds)
        begun = Begun(facts, tree)
        begun.advance(FRONT)
        known = module.fronts[place] = shared(facts, begun.tree)
    facts, tree = known.begin(kinds)
    begun = Begun(facts, tree, FRONT, known)
    begun.advance((containers,))
    return Outcome(of_display(begun.tree.body[-1].value, begun.facts.kinds), begun=begun)


def has_arrays(kind: Kind) -> bool:
    """Whether a value is a number or an array, or holds one, as far as it is known."""
    return kind.tag in ("scalar", "array") or any(has_arrays(item) for _, item in kind.items)


def fronted(
    source: Source, namespace: Namespace, wrt: tuple[str, ...], kinds: dict[str, Kind], module: Any
) -> tuple[Node, Facts]:
    """A function in normal form, with the shapes of its values."""
    facts, program = prepared(source, namespace, "primal", wrt, kinds, module)
    facts.called = True
    for each in (*FRONT, containers, activity, shapes):
        program = each(program, facts)
    return program, facts


def step_flows(step: Step, module: Any) -> list[list[str]]:
    """For each part of a step's result the parameters from which a derivative flows into it."""
    everything = tuple(parameters(step.source.tree))
    facts, program = prepared(step.source, step.namespace, "reverse", everything, {}, module, step)
    facts.called = True
    for each in (*FRONT, containers):
        program = each(program, facts)
    return flows(program, facts)


def returns_new(source: Source, namespace: Namespace, module: Any, step: Step | None = None) -> bool:
    """Whether each value that a function returns is made by it, and is no part of an argument."""
    facts, program = prepared(source, namespace, "reverse", tuple(parameters(source.tree)), {}, module, step)
    facts.called = True
    for each in (*FRONT, containers, activity, complexes, shapes):
        program = each(program, facts)
    return is_new(program.body[-1].value, program, facts)
