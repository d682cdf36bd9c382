"""Each mode is a tuple of passes: reading the tuple is reading the architecture.

A pass takes the tree (or, after derivation, the program of two halves) and the facts, and returns the same kind.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any  # passes take trees, which have no types of their own

import gast

import srcgrad.templates as templates
from srcgrad.analyse.accumulators import accumulators
from srcgrad.analyse.active import activity, flows
from srcgrad.analyse.alias import aliases, is_new
from srcgrad.analyse.bound import bound
from srcgrad.analyse.complex_limits import complex_limits
from srcgrad.analyse.complexes import complexes, may_be_complex
from srcgrad.analyse.containers import containers, of_display
from srcgrad.analyse.items import items
from srcgrad.analyse.mutable import mutable
from srcgrad.analyse.shapes import shapes
from srcgrad.analyse.shifts import shifts
from srcgrad.derive.autocast import autocast
from srcgrad.derive.calls import calls
from srcgrad.derive.declared import check
from srcgrad.derive.finish import gradient, primal
from srcgrad.derive.forward import dotted, tangent
from srcgrad.derive.kept import kept
from srcgrad.derive.probes import probes
from srcgrad.emit.assemble import SUFFIX, assemble, outer_names
from srcgrad.facts import Facts, Kind, Spec
from srcgrad.front.array_api import array_api
from srcgrad.front.auxiliary import auxiliary
from srcgrad.front.checkpoints import checkpoints
from srcgrad.front.entry import entry
from srcgrad.front.exits import exits
from srcgrad.front.fields import fields
from srcgrad.front.inlined import inlined
from srcgrad.front.intermediate import intermediate
from srcgrad.front.known import known
from srcgrad.front.lists import lists
from srcgrad.front.namespace import Namespace
from srcgrad.front.normal import normalise
from srcgrad.front.plain import plain
from srcgrad.front.records import records
from srcgrad.front.results import results
from srcgrad.front.source import Source
from srcgrad.front.step import Step
from srcgrad.front.subset import subset
from srcgrad.front.views import views
from srcgrad.front.webs import augmented, parameters, webs
from srcgrad.improve.accumulate import accumulate
from srcgrad.improve.cleared import cleared
from srcgrad.improve.closure import closure
from srcgrad.improve.coalesce import coalesce, count_temporaries
from srcgrad.improve.copies import copies
from srcgrad.improve.dead import dead
from srcgrad.improve.inline import inline
from srcgrad.improve.order import order
from srcgrad.improve.parts import parts
from srcgrad.improve.products import products
from srcgrad.improve.reuse import reuse
from srcgrad.improve.signs import signs
from srcgrad.improve.spelling import spelling
from srcgrad.improve.uncopied import uncopied
from srcgrad.improve.units import spread_seed, units
from srcgrad.improve.unpack import unpack
from srcgrad.improve.unread import unread
from srcgrad.names import Names
from srcgrad.targeted import PASSES
from srcgrad.trees import Node, copy, walk

Pass = Callable[[Any, Facts], Any]

FRONT: tuple[Pass, ...] = (
    checkpoints,
    plain,
    subset,
    exits,
    auxiliary,
    array_api,
    known,
    inlined,
    records,
    lists,
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
    aliases,
    items,
    mutable,
    accumulators,
    calls,
)
IMPROVE: tuple[Pass, ...] = (
    dead,
    unread,
    dead,
    parts,
    spread_seed,
    copies,
    spelling,
    unpack,
    inline,
    units,
    signs,
    order,
    cleared,
    uncopied,
    products,
    accumulate,
    reuse,
    coalesce,
    count_temporaries,
    closure,
)

LOWER: tuple[Pass, ...] = (containers, activity, shapes, autocast)  # with a dtype to compute in, behind the front

REVERSE: tuple[Pass, ...] = (*FRONT, *ANALYSE, gradient, *IMPROVE)
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
SEED = {"vjp": "given", "pull": "given", "elementwise": "ones"}


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
) -> Derived:
    """The derivative of one function in one mode, as a part of `module`; `called` if another one calls it.

    With `has_auxiliary`, the function returns a pair, of which only the first is differentiated; `step` says that it
    is the body of a loop.
    """
    with collection_paused():
        return _derived(source, namespace, mode, wrt, kinds, module, key, single, called, has_auxiliary, step)


@contextlib.contextmanager
def collection_paused() -> Iterator[None]:
    """Trees are many small objects and no garbage: collecting while they are made costs a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _derived(
    source: Source,
    namespace: Namespace,
    mode: str,
    wrt: tuple[str, ...],
    kinds: dict[str, Kind],
    module: Any,
    key: Any,
    single: bool,
    called: bool,
    has_auxiliary: bool,
    step: Step | None,
) -> Derived:
    facts, tree = prepared(source, namespace, mode, wrt, kinds, module, step)
    facts.called, facts.auxiliary = called, has_auxiliary
    facts.seed = SEED.get(mode, "parameter" if module.seeded else "one")
    stem = source.name.removesuffix("_grad") if mode == "hvp" else source.name
    made = module.names.fresh(source.name if mode == "primal" else f"{stem}_{SUFFIX[mode]}")
    module.pending[key] = made
    module.making[made] = facts
    if facts.pushes_forward:
        facts.seeds = tuple(dotted(w, facts) for w in wrt)
    facts.single = single
    facts.names.taken.add(made)
    program: Any = tree
    for each in steps(mode, module):
        program = each(program, facts)
    if module.explained:
        facts.kept = kept(program, facts)
    program.forward = [*check(kinds, facts), *program.forward]
    free = outer_names(program, facts, source.tree)
    return Derived(made, assemble(program, facts, source.tree, made), facts, free)


def steps(mode: str, module: Any) -> tuple[Pass, ...]:
    """The passes of a mode, with those that the options of a text add."""
    chosen = MODES[mode]
    if module.autocast:
        place = chosen.index(containers)
        chosen = (*chosen[:place], *LOWER, *chosen[place:])
    return (*chosen, *PASSES[module.target])


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
    bound = {n.id for n in walk(tree) if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)}
    facts.local = frozenset(bound)
    facts.generated = source.file.startswith("<srcgrad ")
    facts.back = facts.names.fresh(f"{source.name}_back") if mode == "vjp" else ""
    return facts, tree


def analysed(
    source: Source, namespace: Namespace, kinds: dict[str, Kind], module: Any, step: Step | None = None
) -> Any:
    """What is known of a function's result, for arguments of these kinds, or None; its kind; may it be complex."""
    facts, program = prepared(source, namespace, "reverse", tuple(parameters(source.tree)), kinds, module, step)
    facts.called = True
    for each in (*FRONT, containers, activity, complexes, shapes):
        program = each(program, facts)
    value = program.body[-1].value
    kind = of_display(value, facts.kinds)
    complex_ = may_be_complex(value, facts)
    if isinstance(value, gast.Tuple):
        return tuple(facts.spec.get(item, Spec(ndim=None)) for item in value.elts), kind, complex_
    return facts.spec.get(value), kind, complex_


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
