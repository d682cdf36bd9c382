"""Names for readers: what was renamed gets the user's name back where nothing is lost, temporaries are counted."""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import Facts, Spec
from srcgrad.names import bar, dot, stack
from srcgrad.trees import COMPOUND, Block, Node, loads, statements, stores, target, walk

Interval = tuple[int, int]


def coalesce(program: Program, facts: Facts) -> Program:
    """Two values whose lives do not overlap share the user's name, and so do their adjoints."""
    families = _families(facts)
    lives = _lives(program) if families else {}
    read = {name for node in statements(program.block) for name in loads(node)}
    bound = {name for node in statements(program.block) for name in stores(node)} | set(program.parameters)
    outside = read - bound  # names of the module
    read |= {user for name, user in families if name in read}
    renamed: dict[str, str] = {}
    groups: dict[str, list[Interval]] = {}
    for name, user in families:
        if name not in lives or user in outside:
            continue
        if name not in read and user not in read:  # the `_` of a loop, where no other value has its name
            renamed[name] = user
            continue
        group = groups.setdefault(user, [*lives.get(user, ())])
        if all(_apart(one, other) for one in lives[name] for other in group):
            renamed[name] = user
            group += lives[name]
    rename(program, renamed, facts)
    program.forward = _without_self_copies(program.forward)
    program.backward = _without_self_copies(program.backward)
    return program


def _families(facts: Facts) -> list[tuple[str, str]]:
    """(renamed name, the name it would like), primals first."""
    found = list(facts.base.items())
    for adjoint, primal in facts.adjoint_of.items():
        if primal in facts.base:
            suffix = dot if facts.pushes_forward else bar
            found.append((adjoint, facts.spelled.get(facts.base[primal], suffix(facts.base[primal]))))
    return found


def _lives(program: Program) -> dict[str, list[Interval]]:
    """From first to last mention of each name, in places of the text; a loop is one place for what outlives a trip.

    A name that only counts loops lives once in each of them: nobody reads it in between.
    """
    lives: dict[str, list[Interval]] = {name: [(-1, -1)] for name in program.parameters}
    counting = _counting(program)
    clock = 0

    def visit(block: Block, outer: Interval | None) -> None:
        nonlocal clock
        for node in block:
            clock += 2
            for name in loads(node):
                extend(name, clock, outer)
            for name in stores(node):
                extend(name, clock + 1, outer)
            if isinstance(node, COMPOUND):
                around = outer
                whole = (clock, clock + 2 * sum(1 for _ in statements([node])) - 1)
                if isinstance(node, gast.For | gast.While) and outer is None:
                    around = whole
                if isinstance(node, gast.For) and _counter(node) in counting:
                    lives.setdefault(_counter(node), []).append(whole)
                visit(node.body, around)
                visit(getattr(node, "orelse", None) or [], around)

    def extend(name: str, when: int, outer: Interval | None) -> None:
        first, last = outer or (when, when)
        if name not in counting:
            [known] = lives.get(name, [(first, last)])
            lives[name] = [(min(known[0], first), max(known[1], last))]

    visit(program.block, None)
    return lives


def _counting(program: Program) -> frozenset[str]:
    """The counters of loops that are mentioned in their loops alone."""
    counters = {_counter(node) for node in statements(program.block)} - {""}
    others = {*program.parameters, *loads(program.result)}

    def visit(block: Block, around: frozenset[str]) -> None:
        for node in block:
            own = {_counter(node)}
            others.update((set(stores(node)) - own) | (set(loads(node)) - around))
            if isinstance(node, COMPOUND):
                visit(node.body, around | own)
                visit(getattr(node, "orelse", None) or [], around)

    visit(program.block, frozenset())
    return frozenset(counters - others)


def _counter(node: Node) -> str:
    """The name that a loop binds; an empty string for other statements."""
    return str(node.target.id) if isinstance(node, gast.For) and isinstance(node.target, gast.Name) else ""


def _apart(one: Interval, two: Interval) -> bool:
    return one[1] < two[0] or two[1] < one[0]


def rename(program: Program, renamed: dict[str, str], facts: Facts) -> None:
    """Spell names anew, in the program and in the user's own statements."""
    if not renamed:
        return
    for node in program.block:
        for item in walk(node):
            if isinstance(item, gast.Name) and item.id in renamed:
                item.id = renamed[item.id]
    facts.pushes = {node: renamed.get(kept, kept) for node, kept in facts.pushes.items()}
    facts.restores = {node: renamed.get(kept, kept) for node, kept in facts.restores.items()}
    facts.mutable = {renamed.get(name, name): None for name in facts.mutable}
    facts.recorded = {renamed.get(name, name): where for name, where in facts.recorded.items()}
    facts.adjoint_of = {renamed.get(a, a): renamed.get(p, p) for a, p in facts.adjoint_of.items()}
    facts.opposites = {renamed.get(name, name): None for name in facts.opposites}
    facts.plurals = {renamed.get(several, several): renamed.get(one, one) for several, one in facts.plurals.items()}
    specs: dict[str, Spec] = {}
    for name, spec in facts.value_spec.items():
        spelled = renamed.get(name, name)
        specs[spelled] = spec if specs.setdefault(spelled, spec) == spec else _either(spelled)
    facts.value_spec = specs


def _either(name: str) -> Spec:
    """The spec of a name that stands for values of which not all is alike."""
    unknown = frozenset([f"any {name}"])
    return Spec(unknown, unknown, None)


def _without_self_copies(block: Block) -> Block:
    made = []
    for node in block:
        if isinstance(node, COMPOUND):
            node.body = _without_self_copies(node.body)
            node.orelse = _without_self_copies(getattr(node, "orelse", None) or [])
        if not (target(node) and isinstance(node.value, gast.Name) and node.value.id == target(node)):
            made.append(node)
    return made


def count_temporaries(program: Program, facts: Facts) -> Program:
    """Number the temporaries of a text; one that gets a leading axis has other lines then, and is numbered behind."""
    if facts.pushes_forward and facts.module is not None and facts.module.leading.axis:
        return program
    return numbered(program, facts)


def numbered(program: Program, facts: Facts) -> Program:
    """A temporary is t if it is the only one and nothing else is; otherwise t1, t2, ... in the order of the text."""
    seen: dict[str, None] = {}
    for node in statements(program.block):
        for item in _mentioned(node):
            primal = facts.adjoint_of.get(item, item)
            if item in facts.opposites:
                seen[item] = None
            elif facts.temporaries.get(primal) == "t":
                seen[primal] = None
    for name, stem in facts.temporaries.items():
        if stem == "t":
            facts.names.taken -= {name, facts.spelled.get(name, name)}
    renamed: dict[str, str] = {}
    alone = len(seen) == 1 and not {"t", bar("t"), dot("t")} & facts.names.taken
    for number, name in enumerate(seen, 1):
        fresh = facts.names.fresh("t" if alone else f"t{number}")
        renamed[name] = fresh
        if name in facts.spelled and facts.spelled[name] not in seen:
            suffix = dot if facts.pushes_forward else bar
            renamed[facts.spelled[name]] = facts.names.fresh(suffix(fresh))
        kept = facts.stacks.get(name)
        if kept is not None and kept != stack(fresh):
            facts.names.taken.discard(kept)
            renamed[kept] = facts.names.fresh(stack(fresh))
    facts.names.taken -= facts.plurals.keys()
    for several, one in facts.plurals.items():
        renamed[several] = facts.names.fresh(f"{renamed.get(one, one)}s")
    rename(program, renamed, facts)
    rename(program, _stacks(program, facts), facts)
    return program


def _stacks(program: Program, facts: Facts) -> dict[str, str]:
    """The names of stacks, now that some are gone: the first of a value has no underscore behind it."""
    ours = {name for name in [*facts.pushes.values(), *facts.restores.values()] if name.rstrip("_").endswith(stack(""))}
    block = program.block if ours else []
    found = dict.fromkeys(item for node in statements(block) for item in _mentioned(node) if item in ours)
    facts.names.taken -= ours
    return {name: facts.names.fresh(name.rstrip("_")) for name in found}


def _mentioned(node: Node) -> list[str]:
    return [*loads(node), *stores(node)]
