"""Each mode is a tuple of passes: reading the tuple is reading the architecture.

A pass takes the tree (or, after derivation, the program of two halves) and the facts, and returns the same kind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any  # passes take trees, which have no types of their own

import gast

import srcgrad.templates as templates
from srcgrad.analyse.accumulators import accumulators
from srcgrad.analyse.active import activity
from srcgrad.analyse.alias import aliases
from srcgrad.analyse.bound import bound
from srcgrad.analyse.complex_limits import complex_limits
from srcgrad.analyse.complexes import complexes
from srcgrad.analyse.containers import containers
from srcgrad.analyse.items import items
from srcgrad.analyse.logistic import logistic
from srcgrad.analyse.mutable import mutable
from srcgrad.analyse.rows import rowwise
from srcgrad.analyse.shapes import shapes
from srcgrad.analyse.shifts import shifts
from srcgrad.derive.arrays import check_places
from srcgrad.derive.autocast import autocast
from srcgrad.derive.blocked import blocked
from srcgrad.derive.calls import calls
from srcgrad.derive.declared import check
from srcgrad.derive.doubts import doubts
from srcgrad.derive.finish import gradient, primal
from srcgrad.derive.forward import dotted, tangent
from srcgrad.derive.handed import handed
from srcgrad.derive.kept import kept
from srcgrad.derive.operands import operands
from srcgrad.derive.probes import probes
from srcgrad.emit.assemble import SUFFIX, assemble, outer_names
from srcgrad.facts import Facts, Kind
from srcgrad.front.array_api import array_api
from srcgrad.front.auxiliary import auxiliary
from srcgrad.front.checkpoints import checkpoints
from srcgrad.front.conversions import conversions
from srcgrad.front.entry import entry
from srcgrad.front.exits import exits
from srcgrad.front.fields import fields
from srcgrad.front.inlined import inlined
from srcgrad.front.intermediate import intermediate
from srcgrad.front.item_targets import item_targets
from srcgrad.front.known import known
from srcgrad.front.lists import lists
from srcgrad.front.namespace import Namespace
from srcgrad.front.normal import normalise
from srcgrad.front.plain import plain
from srcgrad.front.records import records
from srcgrad.front.refresh import refresh
from srcgrad.front.results import results
from srcgrad.front.source import Source
from srcgrad.front.stacks import stacks
from srcgrad.front.step import Step
from srcgrad.front.subset import subset
from srcgrad.front.views import views
from srcgrad.front.webs import augmented, webs
from srcgrad.improve.passes import IMPROVE
from srcgrad.load import collection_paused
from srcgrad.names import Names
from srcgrad.shared import Shared
from srcgrad.targeted import PASSES
from srcgrad.trees import Node, copy, walk

Pass = Callable[[Any, Facts], Any]

FRONT: tuple[Pass, ...] = (
    item_targets,
    checkpoints,
    conversions,
    plain,
    subset,
    exits,
    auxiliary,
    array_api,
    known,
    inlined,
    records,
    refresh,
    lists,
    stacks,
    views,
    entry,
    augmented,
    bound,
    fields,
    webs,
    normalise,
    intermediate,
    results,
)
ANALYSE: tuple[Pass, ...] = (
    containers,
    shifts,
    activity,
    complexes,
    complex_limits,
    shapes,
    doubts,
    aliases,
    items,
    mutable,
    accumulators,
    calls,
    handed,
    logistic,
)

REVERSE: tuple[Pass, ...] = (*FRONT, *ANALYSE, gradient, operands, *IMPROVE)
FORWARD: tuple[Pass, ...] = (*FRONT, *ANALYSE, tangent, *IMPROVE)

MODES: dict[str, tuple[Pass, ...]] = {
    "reverse": REVERSE,
    "value-and-grad": REVERSE,
    "vjp": REVERSE,
    "forward": FORWARD,
    "hvp": FORWARD,  # of the text of a gradient
    "push": FORWARD,
    "elementwise": REVERSE,
    "pull": REVERSE,
    "trace": (*FRONT, containers, probes, *ANALYSE, gradient),
    "primal": (*FRONT, *ANALYSE, primal, *IMPROVE),
}
BACKWARD = ("reverse", "value-and-grad", "vjp", "pull", "elementwise")  # modes in which values are recorded
SEED = {"vjp": "given", "pull": "given", "elementwise": "ones"}


@dataclass
class Begun:
    """A tree and its facts after the passes that are `done`; whoever goes on with them has them for himself."""

    facts: Facts
    tree: Any
    done: tuple[Pass, ...] = ()
    shared: Shared | None = None  # where the tree comes from, if others look at it as well

    def advance(self, passes: tuple[Pass, ...]) -> None:
        """Run some more passes."""
        for each in passes:
            self.tree = each(self.tree, self.facts)
        self.done += passes

    def fits(self, mode: str, module: Any, called: bool) -> bool:
        """Whether a derivative of this mode comes to the same tree: of modes only checkpoints know that early."""
        alike = mode in BACKWARD or (mode == "forward" and not module.checkpoints)
        plain = not (module.autocast or module.blocks)
        free = self.shared is None or not self.shared.taken
        return alike and plain and free and self.facts.module is module and self.facts.called == called

    def taken(self) -> Begun:
        """Itself, for a derivative, which changes the tree: nobody else looks at that from here on."""
        if self.shared is not None:
            self.shared.taken = True
        return self


@dataclass(frozen=True)
class Derived:
    """A derivative as text, with what it needs to run."""

    name: str
    tree: Node
    facts: Facts
    free: tuple[str, ...]  # names that the text takes from outside of itself


def derive(
    source: Source,
    namespace: Namespace,
    mode: str,
    wrt: tuple[str, ...],
    kinds: dict[str, Kind],
    module: Any,
    key: Any,
    single: bool = True,
    called: bool = False,
    has_auxiliary: bool = False,
    step: Step | None = None,
    begun: Begun | None = None,
    apart: bool = False,
) -> Derived:
    """The derivative of one function in one mode, as a part of `module`; `called` if another one calls it.

    With `has_auxiliary`, only the first of a returned pair is differentiated; `step` says that it is a loop's body.
    `begun` is what a question has made of the function already, for these arguments. With `apart`, there is a seed for
    each item of a returned tuple.
    """
    stem = source.name.removesuffix("_grad") if mode == "hvp" else source.name
    suffix = "_blocked" if module.blocks and not called else "" if mode == "primal" else f"_{SUFFIX[mode]}"
    made = module.names.fresh(f"{stem}{suffix}{'s' * module.leading.axis if mode != 'primal' else ''}")
    module.pending[key] = made
    if begun is None or made in begun.facts.names.taken:
        begun = Begun(*prepared(source, namespace, mode, wrt, kinds, module, step))
    facts = begun.facts
    facts.mode, facts.single, facts.called, facts.auxiliary = mode, single, called, has_auxiliary
    facts.apart = apart
    facts.back = facts.names.fresh(f"{source.name}_back") if mode == "vjp" else ""
    facts.seed = SEED.get(mode, "parameter" if module.seeded else "one")
    module.making[made] = facts
    if facts.pushes_forward:
        facts.seeds = tuple(dotted(w, facts) for w in wrt)
    facts.names.taken.add(made)
    with collection_paused():
        return _derived(begun, kinds, made)


def _derived(begun: Begun, kinds: dict[str, Kind], made: str) -> Derived:
    facts, module, tree = begun.facts, begun.facts.module, begun.facts.source.tree
    begun.advance(tuple(each for each in steps(facts.mode, module) if each not in begun.done))
    program: Any = begun.tree
    if module.explained:
        facts.kept = kept(program, facts)
    program.forward = [*check(kinds, facts), *check_places(program, facts), *program.forward]
    free = outer_names(program, facts, tree)
    return Derived(made, assemble(program, facts, tree, made), facts, free)


def steps(mode: str, module: Any) -> tuple[Pass, ...]:
    """The passes of a mode, with those that the options of a text add."""
    chosen = MODES[mode]
    if module.autocast or module.blocks:
        place = chosen.index(containers)  # behind the front
        change = blocked if module.blocks else autocast
        chosen = (*chosen[:place], containers, activity, shapes, change, *chosen[place:])
    if module.leading.regroup and tangent in chosen:
        place = chosen.index(tangent)
        chosen = (*chosen[:place], rowwise, *chosen[place:])
    return (*chosen, *PASSES["batched" if module.leading.axis else module.target])


def prepared(
    source: Source,
    namespace: Namespace,
    mode: str,
    wrt: tuple[str, ...],
    kinds: dict[str, Kind],
    module: Any,
    step: Step | None = None,
) -> tuple[Facts, Node]:
    """Empty facts and a tree of its own."""
    templates.load()
    tree = copy(source.tree)
    taken = {n.id for n in walk(tree) if isinstance(n, gast.Name)} | {source.name}
    facts = Facts(source, namespace, mode, wrt, kinds, names=Names(sorted(taken)), module=module, step=step)
    if step is not None:
        pairs = zip(walk(source.tree), walk(tree), strict=True)
        facts.foreign.update({own: None for given, own in pairs if given in step.made})
    facts.local = frozenset(n.id for n in walk(tree) if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load))
    facts.generated = source.file.startswith("<srcgrad ")
    return facts, tree
