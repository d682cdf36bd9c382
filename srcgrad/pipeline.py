"""The pipeline: the passes of each mode, in order.

Each mode is a tuple of passes: reading the tuple is reading the architecture. A pass takes the tree (or, after
derivation, the program of two halves) and the facts, and returns the same kind; none runs another one. `OPTIMISE` is
what a text is improved by, both halves together; each target adds passes of its own at the end (`core.target`). A
user's own function and a text of ours, differentiated once more, have two lists, told apart here by `user` and `again`.
What the frontend makes of a function is kept for all who ask about it: it depends on few of its arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any  # passes take trees, which have no types of their own

import gast

import srcgrad.templates as templates
from srcgrad.analysis.activity import activity, own_branches
from srcgrad.analysis.alias import check_aliases
from srcgrad.analysis.containers import containers
from srcgrad.analysis.dtypes import complex_limits, complex_values
from srcgrad.analysis.mutation import (
    check_dtypes,
    check_entered,
    check_mutation,
    definite_assignment,
    look_at_items,
    look_at_options,
    unbound_names,
)
from srcgrad.analysis.recognised_idioms import note_shifts, note_words, recognise_logistic
from srcgrad.analysis.rows import OverRowsError, note_row_independence
from srcgrad.analysis.shapes import shapes
from srcgrad.backend.text.function import SUFFIX, assemble, outer_names
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import (
    PLAIN,
    AskedKinds,
    Facts,
    FunctionNames,
    Kind,
    KnownKinds,
    PullbackForm,
    Request,
    inner_kinds,
    numbers,
)
from srcgrad.core.files import collection_paused
from srcgrad.core.identity import record, replace
from srcgrad.core.namespace import Namespace, Step
from srcgrad.core.source_text import Source
from srcgrad.core.trees import Node, find_nodes, names_in, parameters, walk
from srcgrad.core.trees import copy as trees_copy
from srcgrad.derive.arguments import (
    autocast,
    check_places,
    check_real,
    check_sequences,
    derive_called_functions,
    note_list_arguments,
)
from srcgrad.derive.forward import tangent, tangent_name
from srcgrad.derive.probes import probes
from srcgrad.derive.program import check, put_together
from srcgrad.derive.recording import accumulators, saved_values
from srcgrad.derive.regularity import note_doubts
from srcgrad.derive.reverse import gradient, primal
from srcgrad.derive.row_blocks import loop_over_blocks
from srcgrad.frontend.again import stacks
from srcgrad.frontend.calls.checkpointed_loops import checkpoints
from srcgrad.frontend.calls.inline import inline_calls
from srcgrad.frontend.calls.side_effects import copy_written_arguments
from srcgrad.frontend.containers_that_change import rebind_changed_arrays
from srcgrad.frontend.desugar.assignments import item_targets, known_stars
from srcgrad.frontend.desugar.compound_statements import compound_statements
from srcgrad.frontend.desugar.conversions import conversions
from srcgrad.frontend.desugar.desugar import desugar, generated_text, structured_exits
from srcgrad.frontend.desugar.generators import generators
from srcgrad.frontend.desugar.lists_and_dicts import lists
from srcgrad.frontend.desugar.objects import records
from srcgrad.frontend.desugar.views import views
from srcgrad.frontend.early_facts import intermediate_variables, result_fields, split_auxiliary_value, split_results
from srcgrad.frontend.language import check_language, check_names, check_silent
from srcgrad.frontend.normalise import RESULT_NAME, normalise
from srcgrad.frontend.rename_variables import rename_webs, spell_augmented
from srcgrad.optimise.adjoint_sums import accumulate, dict_adjoints, join_accumulations
from srcgrad.optimise.algebra import (
    common_divisors,
    loop_products,
    product_transposes,
    simplify,
    spread_seed,
    strength_reduction,
)
from srcgrad.optimise.broadcasting import (
    shape_only_operands,
    tangent_shapes,
    unbroadcast_elimination,
)
from srcgrad.optimise.common_subexpressions import common_subexpressions, rematerialisation
from srcgrad.optimise.copies import buffer_reuse, close_pullback, copy_elimination, copy_propagation, successor_copies
from srcgrad.optimise.dead_code import (
    dead_code,
    dead_stores_into_adjoints,
    dead_stores_into_values,
    drop,
    stores_for_first_sums,
    unbound_shapes,
)
from srcgrad.optimise.inline_expressions import (
    forward_substitution,
    restore_user_statements,
    second_names,
    sort_adjoint_lines,
    substitute_within_page,
)
from srcgrad.optimise.loops import loop_fusion, loop_invariants
from srcgrad.optimise.naming import coalesce, count_temporaries, sign_turns, unpack_results
from srcgrad.optimise.tape import (
    combined_records,
    late_records,
    tape_layout,
)


@record
class SharedFront:
    """The tree, which stays as it is until a derivative takes it, and the facts, of which each who asks has a copy."""

    facts: Facts
    tree: Node
    asked: AskedKinds
    making: tuple[str, ...]  # the derivatives that the text had or made then, whose names others had to avoid
    taken: bool = False

    def serves(self, kinds: dict[str, Kind]) -> bool:
        """Whether the front would have done the same for arguments of these kinds."""
        if self.taken or self.asked.told or inner_kinds(self.asked) or inner_kinds(kinds):
            return False
        alike = self.asked.numbers is None or self.asked.numbers == numbers(kinds)
        return alike and self.making == tuple(self.facts.module.making)

    def begin(self, kinds: dict[str, Kind]) -> tuple[Facts, Node]:
        """Facts of one's own, for arguments of these kinds, and the tree."""
        made = self.facts.own_copy()
        made.kinds.of_names = dict(self.asked) if self.asked.told else dict(kinds)  # the front may have changed them
        made.kinds.arguments = dict(kinds)
        return made, self.tree


def share_front(facts: Facts, tree: Node) -> SharedFront:
    """What the front has made of a function, whose kinds have noted what it asked of them."""
    assert isinstance(facts.kinds.of_names, AskedKinds), "the caller has given them so"
    return SharedFront(facts, tree, facts.kinds.of_names, tuple(facts.module.making))


USER, AGAIN = "user", "again"  # a user's own function; a text of ours, differentiated once more


Run = Callable[[Any, Facts], Any]  # from a tree, or a program of two halves, to one; nothing where it is changed


@record(frozen=True)
class Pass:
    """A pass in its place: it takes the tree, or the program of two halves, and gives one, or changes it in place.

    `of` tells for which functions it is, if not for all; dead code is dropped behind one that `leaves` such.
    """

    run: Run
    of: str = ""
    leaves: bool = False

    @property
    def name(self) -> str:
        """What the pass is called."""
        return self.run.__name__

    @property
    def reads(self) -> tuple[str, ...]:
        """The records of facts that it looks at, or fills."""
        return self._records(0)

    @property
    def writes(self) -> tuple[str, ...]:
        """The records of facts that it changes; it keeps all others."""
        return self._records(1)

    def _records(self, side: int) -> tuple[str, ...]:
        found = [FACTS[run].split(" > ")[side].split() for run in (self.run, *([dead_code] if self.leaves else []))]
        return tuple(dict.fromkeys(one for part in found for one in part if one != "-"))

    def serves(self, facts: Facts) -> bool:
        """Whether a function has the pass in its list; where a text of ours is written out in it, it is one."""
        return self.of != (USER if facts.request.generated else AGAIN)

    def __call__(self, tree: Any, facts: Facts) -> Any:
        if not self.serves(facts):
            return tree
        made = self.run(tree, facts)
        made = tree if made is None else made
        if self.leaves and facts.activity.left_over:
            drop(made, facts)
        return made


Passes = tuple[Pass, ...]


def swept(run: Run) -> Pass:
    """A pass behind which dead code is dropped: it may leave statements that nothing needs any more."""
    return Pass(run, leaves=True)


def listed(*rows: Run | Pass) -> Passes:
    """Passes in order; those that are not for all functions are `user(...)` or `again(...)`."""
    return tuple(row if isinstance(row, Pass) else Pass(row) for row in rows)


def user(run: Run | Pass) -> Pass:
    """A pass for a user's own function: in a text of ours there is nothing that it looks for."""
    return replace(run, of=USER) if isinstance(run, Pass) else Pass(run, USER)


def again(run: Run) -> Pass:
    """A pass for a text of ours, which is differentiated once more: what it looks for stands in no other."""
    return Pass(run, AGAIN)


DESUGAR = listed(again(generated_text), user(desugar))
CALLEE = listed(
    user(generators),
    user(compound_statements),
    user(known_stars),
    item_targets,
    user(checkpoints),
    user(conversions),
    *DESUGAR,
    check_language,
    structured_exits,
    user(unbound_names),
)  # what is written out
EFFECTS = listed(
    user(generators), user(compound_statements), user(known_stars), item_targets, *DESUGAR
)  # what is asked for what it changes
FRONT = listed(
    *CALLEE,
    split_auxiliary_value,
    check_names,
    inline_calls,
    records,
    user(rebind_changed_arrays),
    lists,
    again(stacks),
    user(views),
    user(copy_written_arguments),
    spell_augmented,
    user(definite_assignment),
    user(result_fields),
    rename_webs,
    user(check_silent),
    normalise,
    intermediate_variables,
    split_results,
)
KINDS = listed(containers)  # of a result
VALUES = listed(
    note_shifts, activity, again(own_branches), complex_values, shapes
)  # what else a caller is told of a result
FLOW = (*FRONT, *KINDS)  # which parameters flow into a result
NORMAL = (*FLOW, *listed(activity, again(own_branches), shapes))  # a callee in normal form
RESULT = (*FLOW, *listed(activity, again(own_branches), complex_values, shapes))  # whether a result is new
ANALYSE = listed(
    containers,
    note_shifts,
    activity,
    again(own_branches),
    complex_values,
    complex_limits,
    shapes,
    note_doubts,
    user(check_aliases),
    look_at_items,
    user(look_at_options),
    user(check_entered),
    check_mutation,
    user(check_dtypes),
    accumulators,
    derive_called_functions,
    recognise_logistic,
    note_words,
)
OPTIMISE = listed(
    dead_code,
    user(swept(dead_stores_into_values)),
    swept(loop_fusion),
    swept(combined_records),
    swept(shape_only_operands),
    user(late_records),
    again(tangent_shapes),
    dict_adjoints,
    spread_seed,
    second_names,
    swept(common_subexpressions),
    swept(copy_propagation),
    swept(common_divisors),
    product_transposes,
    restore_user_statements,
    unpack_results,
    forward_substitution,
    swept(unbroadcast_elimination),
    product_transposes,
    simplify,
    sort_adjoint_lines,
    sign_turns,
    swept(copy_propagation),
    stores_for_first_sums,
    user(dead_stores_into_adjoints),
    copy_elimination,
    join_accumulations,
    loop_invariants,
    loop_products,
    user(successor_copies),
    accumulate,
    substitute_within_page,
    simplify,
    strength_reduction,
    rematerialisation,
    user(buffer_reuse),
    coalesce,
    tape_layout,
    count_temporaries,
    close_pullback,
    unbound_shapes,
)

REVERSE = (*FRONT, *ANALYSE, *listed(gradient, note_list_arguments), *OPTIMISE)
FORWARD = (*FRONT, *ANALYSE, *listed(tangent), *OPTIMISE)

MODES: dict[str, Passes] = {
    "reverse": REVERSE,
    "value-and-grad": REVERSE,
    "vjp": REVERSE,
    "forward": FORWARD,
    "hvp": FORWARD,  # of the text of a gradient
    "push": FORWARD,
    "elementwise": REVERSE,
    "pull": REVERSE,
    "trace": (*FRONT, *listed(containers, probes), *ANALYSE, *listed(gradient)),
    "primal": (*FRONT, *ANALYSE, *listed(primal), *OPTIMISE),
}
# What each pass reads and writes, by record of `core.facts.Facts`; what was asked for is read by all. So it
# was seen over the programs of the judge (`python -m tests.passes --facts`); a test looks at the tables as passes run.
FACTS: dict[Run, str] = {
    generators: "Names Origin Kinds Resolution > Names Origin",
    compound_statements: "Names Origin Kinds Resolution > Names Origin",
    known_stars: "Names Origin Kinds > Origin",
    item_targets: "Names Origin > Names Origin",
    checkpoints: "Names Origin > Names Origin",
    conversions: "Names Origin Kinds Resolution > Names Origin Kinds",
    generated_text: "Names Origin Kinds > Names Origin",
    desugar: "Names Origin Kinds Resolution > Names Origin Kinds",
    check_language: "Names Origin > -",
    structured_exits: "Names Origin > Names Origin",
    unbound_names: "Names Origin > Origin",
    split_auxiliary_value: "- > -",
    check_names: "Names > -",
    inline_calls: "Names Origin Kinds Resolution Values > Names Origin Resolution",
    records: "Origin Kinds > -",
    rebind_changed_arrays: "Names Kinds Memory > Memory",
    lists: "Names Kinds Resolution > Kinds",
    stacks: "Origin Kinds > Kinds",
    views: "Names Origin Kinds > Names Origin",
    copy_written_arguments: "Names Origin Kinds Resolution Memory > Names Origin Resolution Memory",
    spell_augmented: "Names Origin Kinds Values > Origin Values",
    definite_assignment: "- > -",
    result_fields: "Names Origin > Origin",
    rename_webs: "Names Kinds Values > Names Values",
    check_silent: "Names Kinds Resolution > -",
    normalise: "Names Origin Kinds Resolution Activity Memory Calls > Names Origin Resolution Activity Memory Calls",
    intermediate_variables: "- > -",
    split_results: "Names Origin Resolution Activity > Names Origin Activity",
    containers: "Names Kinds Resolution Values Tape > Kinds",
    note_shifts: "Resolution Idioms > Idioms",
    activity: "Names Origin Kinds Resolution Activity Memory Idioms > Origin Kinds Activity",
    own_branches: "Activity > Activity",
    complex_values: "Names Origin Kinds Resolution Activity Values > Resolution Values",
    complex_limits: "Names Kinds Resolution Activity Values > Values",
    shapes: "Names Origin Kinds Resolution Values > Origin Kinds Values",
    note_doubts: "Names Kinds Resolution Activity Values Calls Idioms > Idioms",
    check_aliases: "Names Origin Kinds Resolution Activity Values > Names Origin Resolution Values",
    look_at_items: "Names Origin Kinds Resolution Values > Names Origin Resolution Values",
    look_at_options: "Names Origin Resolution Values > Names Origin Resolution Values",
    check_entered: "Names Origin Kinds Resolution Activity Values > -",
    check_mutation: "Names Origin Kinds Resolution Activity Values Memory Calls Idioms"
    " > Names Origin Resolution Activity Values Memory",
    check_dtypes: "Names Kinds Resolution Activity Values Memory Idioms > Names Resolution",
    accumulators: "Resolution Tape > Tape",
    derive_called_functions: "Names Origin Kinds Resolution Activity Values Calls Idioms"
    " > Names Origin Activity Values Calls Idioms",
    recognise_logistic: "Resolution Activity Memory > Resolution",
    note_words: "Names Resolution > Names",
    gradient: "Names Origin Kinds Resolution Activity Values Memory Calls Tape Idioms"
    " > Names Resolution Activity Values Memory Calls Tape Idioms",
    note_list_arguments: "Names Kinds Memory > Memory",
    dead_code: "Resolution Activity Calls Tape > Activity",
    dead_stores_into_values: "Names Kinds Activity Values Memory Tape > Activity",
    loop_fusion: "Names Origin Kinds Resolution Activity Values Memory Tape > Names Origin Activity Values Tape",
    combined_records: "Names Origin Kinds Resolution Activity Values Memory Tape"
    " > Names Resolution Activity Values Tape",
    shape_only_operands: "Names Kinds Resolution Activity Values Memory Tape > Activity",
    late_records: "Names Kinds Values Memory Tape > -",
    tangent_shapes: "Names > -",
    dict_adjoints: "Names Kinds Tape > -",
    spread_seed: "Names Memory > -",
    second_names: "Names Activity Values Tape > Tape",
    common_subexpressions: "Names Origin Kinds Activity Memory Tape > Activity",
    copy_propagation: "Names Activity Memory Tape > Activity",
    common_divisors: "Names Kinds Activity Values Memory > Activity Values",
    product_transposes: "Names Kinds Resolution Values Tape > Values",
    restore_user_statements: "Names Origin Resolution Tape > -",
    unpack_results: "Names Resolution Tape > Names",
    forward_substitution: "Names Origin Resolution Activity Values Memory Calls Tape > Origin Values",
    simplify: "Names Origin Kinds Activity Values Tape > -",
    unbroadcast_elimination: "Names Kinds Activity Values Memory Tape > Activity Tape",
    sort_adjoint_lines: "Names Origin Kinds Activity Values Memory Tape > Tape",
    sign_turns: "Names Kinds Resolution Activity Values Memory Tape > Names Resolution Values",
    stores_for_first_sums: "Values > -",
    dead_stores_into_adjoints: "Names Kinds Values Memory Tape > -",
    copy_elimination: "Names Values Memory > Memory",
    join_accumulations: "Names Tape > -",
    loop_invariants: "Names Origin Kinds Resolution Values Memory Tape > Names Values",
    loop_products: "Names Origin Kinds Activity Values Memory Tape > Names Tape",
    successor_copies: "Names Resolution Memory Tape > -",
    accumulate: "Names Kinds Activity Values Tape > Names",
    substitute_within_page: "Names Origin Resolution Activity Values Memory Calls Tape > Origin Values",
    strength_reduction: "Names Origin Kinds Activity Values Memory Tape > -",
    rematerialisation: "Names Origin Kinds Resolution Values Memory Tape > Values",
    buffer_reuse: "Names Activity Values Memory Tape > -",
    coalesce: "Names Values Memory Tape > Names Values Memory",
    tape_layout: "Names Kinds Memory Calls Tape > Names Tape",
    count_temporaries: "Names Resolution Values Memory Tape > Names Values Tape",
    close_pullback: "Names Kinds Memory Calls Tape > Names Tape",
    unbound_shapes: "Tape > -",
    tangent: "Names Origin Kinds Resolution Activity Values Memory Calls Tape Idioms"
    " > Names Origin Resolution Values Tape Idioms",
    probes: "- > -",
    primal: "- > -",
}
BACKWARD = ("reverse", "value-and-grad", "vjp", "pull", "elementwise")  # modes in which values are recorded
SEED = {"vjp": "given", "pull": "given", "elementwise": "ones"}


@record
class BegunFunction:
    """A tree and its facts after the passes that are `done`; whoever goes on with them has them for himself."""

    facts: Facts
    tree: Any
    done: Passes = ()
    shared: SharedFront | None = None  # where the tree comes from, if others look at it as well

    def advance(self, passes: Passes) -> None:
        """Run some more passes."""
        for each in passes:
            self.tree = each(self.tree, self.facts)
        self.done += passes

    def fits(self, mode: str, module: Any, called: bool) -> bool:
        """Whether a derivative of this mode comes to the same tree: of modes only checkpoints know that early."""
        alike = mode in BACKWARD or (mode == "forward" and not module.checkpoints)
        plain = not (module.autocast or module.blocks)
        free = self.shared is None or not self.shared.taken
        return alike and plain and free and self.facts.module is module and self.facts.request.called == called

    def taken(self) -> BegunFunction:
        """Itself, for a derivative, which changes the tree: nobody else looks at that from here on."""
        if self.shared is not None:
            self.shared.taken = True
        return self


@record(frozen=True)
class DerivedText:
    """A derivative as text, with what it needs to run."""

    name: str
    tree: Node
    facts: Facts
    free: tuple[str, ...]  # names that the text takes from outside of itself


@record(frozen=True)
class Wanted:
    """The derivative that is asked for: its mode, of which arguments, of what kinds; `called` if another one calls it.

    With `auxiliary`, only the first of a returned pair is differentiated. `handed` says how it is called.
    """

    mode: str
    wrt: tuple[str, ...]
    kinds: dict[str, Kind]
    single: bool = True
    called: bool = False
    auxiliary: bool = False
    handed: PullbackForm = PLAIN


def derive(
    source: Source,
    namespace: Namespace,
    wanted: Wanted,
    module: Any,
    key: object,
    step: Step | None = None,
    begun: BegunFunction | None = None,
) -> DerivedText:
    """The derivative of one function in one mode, as a part of `module`; `step` says that it is a loop's body.

    `begun` is what a question has made of the function already, for these arguments.
    """
    mode, kinds, handed = wanted.mode, wanted.kinds, wanted.handed
    stem = source.name.removesuffix("_grad") if mode == "hvp" else source.name
    stem += "_masked" if handed.takes_masks or handed.gives_masks else ""
    blocked = module.blocks and mode == "primal" and not wanted.called
    if mode == "primal" and stem == RESULT_NAME:
        stem += "_function"  # texts call their results so
    suffix = "_blocked" if blocked else "" if mode == "primal" else f"_{SUFFIX[mode]}"
    made = module.names.fresh(f"{stem}{suffix}{'s' * module.leading.axis if mode != 'primal' else ''}")
    module.pending[key] = made
    if begun is None or made in begun.facts.names.taken:
        begun = BegunFunction(*prepare_facts(source, namespace, mode, wanted.wrt, kinds, module, step))
    facts = begun.facts
    facts.request = replace(
        facts.request,
        mode=mode,
        single=wanted.single,
        called=wanted.called,
        auxiliary=wanted.auxiliary,
        handed=handed,
    )
    module.making[made] = facts
    give_seeds(facts)
    if module.blocks and not wanted.called and mode != "hvp":  # of rows all is taken apart, for a proof
        more = parameters(facts.source.tree) if module.blocks.apart else ()
        if mode != "primal" or module.blocks.apart:
            wide = tuple(dict.fromkeys([*wanted.wrt, *module.blocks.over, *more]))
            facts.request = replace(facts.request, wrt=wide, asked=wanted.wrt)
    facts.names.taken.add(made)
    with collection_paused():
        try:
            return _finish_derivative(begun, kinds, made)
        except OverRowsError as found:  # once more, with the call written out that adds up over rows
            module.blocks = replace(module.blocks, over_rows=module.blocks.over_rows | {found.place})
        except DifferentiationError as error:  # once more, with what reads no rows taken apart as well: ranks are known
            widened = not module.blocks or module.blocks.apart
            if error.code != "E5029" or mode == "hvp" or wanted.called or widened:
                raise
            module.blocks = replace(module.blocks, apart=True)
        module.names.taken.discard(made)
        return derive(source, namespace, wanted, module, key, step)


def give_seeds(facts: Facts) -> None:
    """Name what a text of this mode takes beside the function's arguments, and the pullback that it makes."""
    facts.names.back = facts.names.fresh(f"{facts.source.name}_back") if facts.request.mode == "vjp" else ""
    facts.request = replace(
        facts.request, seed=SEED.get(facts.request.mode, "parameter" if facts.module.seeded else "one")
    )
    if facts.pushes_forward:
        facts.names.seeds = tuple(tangent_name(w, facts) for w in facts.request.wrt)


def _finish_derivative(begun: BegunFunction, kinds: dict[str, Kind], made: str) -> DerivedText:
    facts, module, tree = begun.facts, begun.facts.module, begun.facts.source.tree
    begun.advance(tuple(each for each in steps(facts.request.mode, module) if each not in begun.done))
    program: Any = begun.tree
    if module.explained:
        facts.tape.kept = saved_values(program, facts)
    looks = [
        *check(kinds, facts),
        *check_real(program, facts),
        *check_places(program, facts),
        *check_sequences(program, facts),
    ]
    program.forward = [*looks, *program.forward]
    put_together(program, facts)
    free = outer_names(program, facts, tree)
    return DerivedText(made, assemble(program, facts, tree, made), facts, free)


def steps(mode: str, module: Any) -> Passes:
    """The passes of a mode, with those that the options of a text add, and last those of its target."""
    chosen = MODES[mode]
    if module.autocast or module.blocks:
        change = loop_over_blocks if module.blocks else autocast
        chosen = _before(containers, chosen, listed(containers, activity, again(own_branches), shapes, change))
    if module.leading.regroup:
        chosen = _before(tangent, chosen, listed(note_row_independence))
    return (*chosen, *listed(*(module.target.batched if module.leading.axis else module.target.passes)))


def _before(run: Run, chosen: Passes, more: Passes) -> Passes:
    """Passes with some more before one of them, if it is there."""
    place = next((k for k, each in enumerate(chosen) if each.run is run), None)
    return chosen if place is None else (*chosen[:place], *more, *chosen[place:])


def until(run: Run, mode: str = "reverse") -> Passes:
    """The passes of a mode up to one of them."""
    chosen = MODES[mode]
    return chosen[: next(k for k, each in enumerate(chosen) if each.run is run) + 1]


def prepare_facts(
    source: Source,
    namespace: Namespace,
    mode: str,
    wrt: tuple[str, ...],
    kinds: dict[str, Kind],
    module: object,
    step: Step | None = None,
) -> tuple[Facts, Node]:
    """Empty facts and a tree of its own."""
    templates.load()
    tree = trees_copy(source.tree)
    taken = names_in(tree) | {source.name}
    facts = Facts(source, namespace, Request(mode, wrt, step=step), module, FunctionNames(set(taken)))
    facts.kinds = KnownKinds(dict(kinds), arguments=kinds)
    if step is not None:
        pairs = zip(walk(source.tree), walk(tree), strict=True)
        facts.origin.foreign.update({own: None for given, own in pairs if given in step.made})
    facts.names.local = frozenset(n.id for n in find_nodes(tree, gast.Name) if not isinstance(n.ctx, gast.Load))
    facts.request = replace(facts.request, generated=source.is_generated)
    return facts, tree
