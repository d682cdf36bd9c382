"""Names for readers: what was renamed gets the user's name back where nothing is lost; temporaries get words.

A temporary that holds a negative holds the positive, where fewer signs are left: its readers subtract. `t, back =
f_vjp(x)` and then `u, v = t` are `(u, v), back = f_vjp(x)`; a result that nothing reads is `_`. A seed `y_bar` is
unpacked, or read by its items where each of them is read once. `t1, t2 = back(y_bar)` and then `x_bar = t1` are `x_bar,
t2 = back(y_bar)`, if nothing reads x_bar in between.
"""

from __future__ import annotations

import builtins
import keyword
from collections import Counter
from collections.abc import Iterable

import gast

from srcgrad.analysis.dtypes import fits, is_elementwise, is_linear, operand_of_negative
from srcgrad.analysis.recognised_idioms import ARGUMENT, LONGEST, words
from srcgrad.core.facts import Facts, Spec, bar, copy_with_facts, dot, stack
from srcgrad.core.trees import (
    COMPOUND,
    Block,
    Node,
    assign,
    at,
    expression,
    find_nodes,
    header,
    is_self_copy,
    loads,
    name,
    statements,
    stores,
    target,
    walk,
)
from srcgrad.core.visitor import LOOPS, Uses, bindings, count, places, replace, rewrite_blocks, rewrite_statements
from srcgrad.derive.program import Program
from srcgrad.frontend.early_facts import gives_several
from srcgrad.optimise.algebra import settle_signs

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
        if all(_lives_are_disjoint(one, other) for one in lives[name] for other in group):
            renamed[name] = user
            group += lives[name]
    rename(program, renamed, facts)
    program.forward = rewrite_statements(program.forward, lambda node: [] if is_self_copy(node) else [node])
    program.backward = rewrite_statements(program.backward, lambda node: [] if is_self_copy(node) else [node])
    return program


def _families(facts: Facts) -> list[tuple[str, str]]:
    """(renamed name, the name it would like), primals first."""
    found = list(facts.names.base.items())
    for adjoint, primal in facts.names.adjoint_of.items():
        if primal in facts.names.base:
            suffix = dot if facts.pushes_forward else bar
            found.append((adjoint, facts.names.spelled.get(facts.names.base[primal], suffix(facts.names.base[primal]))))
    return found


def _lives(program: Program) -> dict[str, list[Interval]]:
    """From first to last mention of each name, in places of the text; a loop is one place for what outlives a trip.

    A name that only counts loops lives once in each of them: nobody reads it in between.
    """
    lives: dict[str, list[Interval]] = {name: [(-1, -1)] for name in program.parameters}
    counting = _loop_counters(program)
    whole: dict[Node, Interval] = {}

    def extend(name: str, when: int, outer: Interval | None) -> None:
        first, last = outer or (when, when)
        if name not in counting:
            [known] = lives.get(name, [(first, last)])
            lives[name] = [(min(known[0], first), max(known[1], last))]

    for number, place in enumerate(places(program.block), 1):
        node, clock = place.node, 2 * number
        outer = next((whole[loop] for loop in place.loops), None)
        for name in loads(node):
            extend(name, clock, outer)
        for name in stores(node):
            extend(name, clock + 1, outer)
        if isinstance(node, LOOPS):
            whole[node] = (clock, clock + 2 * len(statements([node])) - 1)
        if isinstance(node, gast.For) and _counter(node) in counting:
            lives.setdefault(_counter(node), []).append(whole[node])
    return lives


def _loop_counters(program: Program) -> frozenset[str]:
    """The counters of loops that are mentioned in their loops alone."""
    counters = {_counter(node) for node in statements(program.block)} - {""}
    others = {*program.parameters, *loads(program.result)}

    for place in places(program.block):
        own, around = {_counter(place.node)}, set(map(_counter, place.around))
        others.update((set(stores(place.node)) - own) | (set(loads(place.node)) - around))
    return frozenset(counters - others)


def _counter(node: Node) -> str:
    """The name that a loop binds; an empty string for other statements."""
    return str(node.target.id) if isinstance(node, gast.For) and isinstance(node.target, gast.Name) else ""


def _lives_are_disjoint(one: Interval, two: Interval) -> bool:
    return one[1] < two[0] or two[1] < one[0]


def rename(program: Program, renamed: dict[str, str], facts: Facts) -> None:
    """Spell names anew, in the program and in the user's own statements."""
    if not renamed:
        return
    for node in program.block:
        for item in walk(node):
            if isinstance(item, gast.Name) and item.id in renamed:
                item.id = renamed[item.id]
    facts.tape.pushes = {node: renamed.get(kept, kept) for node, kept in facts.tape.pushes.items()}
    facts.tape.restores = {node: renamed.get(kept, kept) for node, kept in facts.tape.restores.items()}
    facts.memory.mutable = {renamed.get(name, name): None for name in facts.memory.mutable}
    facts.tape.recorded = {renamed.get(name, name): where for name, where in facts.tape.recorded.items()}
    facts.names.adjoint_of = {renamed.get(a, a): renamed.get(p, p) for a, p in facts.names.adjoint_of.items()}
    facts.names.opposites = {renamed.get(name, name): None for name in facts.names.opposites}
    facts.names.plurals = {
        renamed.get(several, several): renamed.get(one, one) for several, one in facts.names.plurals.items()
    }
    specs: dict[str, Spec] = {}
    for name, spec in facts.values.value_spec.items():
        spelled = renamed.get(name, name)
        specs[spelled] = spec if specs.setdefault(spelled, spec) == spec else _spec_of_alternatives(spelled)
    facts.values.value_spec = specs


def _spec_of_alternatives(name: str) -> Spec:
    """The spec of a name that stands for values of which not all is alike."""
    unknown = frozenset([f"any {name}"])
    return Spec(unknown, unknown, None)


def count_temporaries(program: Program, facts: Facts) -> Program:
    """Number the temporaries of a text; one that gets a leading axis has other lines then, and is numbered behind."""
    if facts.pushes_forward and facts.module is not None and facts.module.leading.axis:
        return program
    return number_temporaries(program, facts)


def number_temporaries(program: Program, facts: Facts) -> Program:
    """A temporary is called by words for what it holds, where there are such; the others are t, or t1, t2, ...

    They are numbered in the order of the text.
    """
    seen: dict[str, None] = {}
    for node in statements(program.block):
        for item in _names_mentioned(node):
            primal = facts.names.adjoint_of.get(item, item)
            if item in facts.names.opposites:
                seen[item] = None
            elif facts.names.temporaries.get(primal) == "t":
                seen[primal] = None
    for name, stem in facts.names.temporaries.items():
        if stem == "t":
            facts.names.taken -= {name, facts.names.spelled.get(name, name)}
    mentioned = {item for node in statements(program.block) for item in _names_mentioned(node)}
    worded = _worded(program, seen, facts)
    renamed: dict[str, str] = {}
    left = [name for name in seen if name not in worded]
    alone = len(left) == 1 and not {"t", bar("t"), dot("t")} & facts.names.taken
    numbers = {name: number for number, name in enumerate(left, 1)}
    for name in seen:
        fresh = worded.get(name) or facts.names.fresh("t" if alone else f"t{numbers[name]}")
        renamed[name] = fresh
        spelled = facts.names.spelled.get(name)
        if spelled is not None and spelled not in seen and (spelled in mentioned or name not in worded):
            suffix = dot if facts.pushes_forward else bar
            renamed[spelled] = facts.names.fresh(suffix(fresh))
        kept = facts.tape.stacks.get(name)
        if kept is not None and kept != stack(fresh):
            facts.names.taken.discard(kept)
            renamed[kept] = facts.names.fresh(stack(fresh))
    facts.names.taken -= facts.names.plurals.keys()
    for several, one in facts.names.plurals.items():
        renamed[several] = facts.names.fresh(f"{renamed.get(one, one)}s")
    rename(program, renamed, facts)
    rename(program, _stacks(program, facts), facts)
    return program


def _worded(program: Program, seen: Iterable[str], facts: Facts) -> dict[str, str]:
    """Names by words for temporaries; what two would be called has no words.

    A value that the backward half computes again has the words of the one whose adjoint is there.
    """
    suffix = dot if facts.pushes_forward else bar
    every = statements(program.block)
    bound = Counter(one for node in every for one in stores(node))
    made = {str(target(node)): node.value for node in every if bound[str(target(node))] == 1}
    stems = {name: facts.names.meant.get(name) or _said(name, made, facts) for name in seen}
    claims: dict[tuple[str, bool], dict[str, None]] = {}
    for item in (one for node in every for one in _names_mentioned(node)):
        primal = facts.names.adjoint_of.get(item, item)
        if stem := stems.get(primal, ""):
            claims.setdefault((stem, item == primal), {})[primal] = None
    calls = [call for node in every for part in header(node) for call in find_nodes(part, gast.Call)]
    taken = facts.names.taken | {call.func.id for call in calls if isinstance(call.func, gast.Name)}
    found: dict[str, str] = {}
    for name, stem in stems.items():
        alone = all(len(claims.get((stem, primal), ())) < 2 for primal in (True, False))
        told = not stem.endswith(ARGUMENT) or name in claims.get((stem, False), ())  # what `tanh_arg` is, its line says
        known = keyword.iskeyword(stem) or hasattr(builtins, stem) or facts.namespace.lookup(stem) is not None
        free = not known and not {stem, suffix(stem), stack(stem), f"{stem}s"} & taken
        if 0 < len(stem) <= LONGEST and alone and told and free:
            found[name] = stem
    facts.names.taken |= set(found.values())
    return found


def _said(name: str, made: dict[str, Node], facts: Facts) -> str:
    """Words for a value of the function's own that a text computes."""
    value = made.get(name)
    return "" if value is None or facts.request.generated or name in facts.names.adjoint_of else words(value, facts)


def _stacks(program: Program, facts: Facts) -> dict[str, str]:
    """The names of stacks, now that some are gone: the first of a value has no underscore behind it."""
    ours = {
        name
        for name in [*facts.tape.pushes.values(), *facts.tape.restores.values()]
        if name.rstrip("_").endswith(stack(""))
    }
    block = program.block if ours else []
    found = dict.fromkeys(item for node in statements(block) for item in _names_mentioned(node) if item in ours)
    facts.names.taken -= ours
    return {name: facts.names.fresh(name.rstrip("_")) for name in found}


def _names_mentioned(node: Node) -> list[str]:
    return [*loads(node), *stores(node)]


def sign_turns(program: Program, facts: Facts) -> Program:
    """Take the sign off such a value: `t = -a`, `u + t * b` is `u - a * b`, and then `t = a` is a second name for a.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> lines = explain_text("def f(a, b):\\n    return np.sin(a - a * b)", after="sign_turns").splitlines()
    >>> print("\\n".join(lines[-4:-1]))
    t3_bar = t2_bar
    a_bar = sum_to(t2_bar - t3_bar * b, a)
    b_bar = -sum_to(t3_bar * a, b)
    """
    ours = [node for node in statements(program.forward) if node in facts.tape.tangents]
    every = [*ours, *statements(program.backward)]
    if not any(target(node) and operand_of_negative(node.value, facts) is not None for node in every):
        return program
    readers: dict[str, list[Node]] = {}
    tangents = [node for node in ours if _is_fixed(node, facts)]
    for node in [*(statements(program.forward) if tangents else ()), *statements(program.backward), program.result]:
        for one in dict.fromkeys(loads(node)):
            readers.setdefault(one, []).append(node)
    bound = bindings(program.block)
    kept = {one for node in statements(program.forward) if node not in facts.tape.tangents for one in loads(node)}
    dropped = [n for n in program.forward if n in facts.tape.tangents and bound.get(_negated_name(n, facts)) == 1]
    for node in [*tangents, *statements(program.backward)]:
        held = target(node)
        if held is None or bound[held] != 1 or held in kept or not (_is_unnamed(held, facts) or node in dropped):
            continue
        value = operand_of_negative(node.value, facts)
        if value is not None and node not in facts.tape.accumulates and _is_apart(value, facts):
            _turn(node, value, readers.get(held, []), facts)
    return program


def _is_unnamed(held: str, facts: Facts) -> bool:
    """Whether a name is that of a temporary, or of the adjoint of one, to no part of which anything is added."""
    return facts.names.adjoint_of.get(held, held) in facts.names.temporaries and held not in facts.memory.elements


def _is_fixed(node: Node, facts: Facts) -> bool:
    """Whether the tangent that a statement binds, and what it is computed from, stay what they are."""
    held = str(target(node))
    names = [facts.names.adjoint_of.get(one, one) for one in (held, *loads(node))]
    changing = (
        facts.memory.mutable,
        facts.memory.viewed,
        facts.memory.swapped,
        facts.kinds.containers,
        facts.kinds.lists,
        facts.memory.added_to,
    )
    return held not in facts.names.seeds and not any(one in table for one in names for table in changing)


def _negated_name(node: Node, facts: Facts) -> str:
    """The c_dot of `t_dot = -c_dot`, the tangent of `t = 1.0 - c`: of a name of the user, it goes with its sign."""
    value = operand_of_negative(node.value, facts) if target(node) is not None else None
    return value.id if isinstance(value, gast.Name) else ""


def _is_apart(value: Node, facts: Facts) -> bool:
    """Whether a value is no part of an array that changes in place, as its negative is none."""
    if isinstance(value, gast.Name):
        changing = (
            facts.memory.elements,
            facts.memory.mutable,
            facts.memory.viewed,
            facts.memory.swapped,
            facts.kinds.containers,
        )
        return not any(value.id in table for table in changing)
    if is_linear(value, facts):
        return _is_apart(value.args[0], facts)
    if isinstance(value, gast.Call):
        method = getattr(value.func, "attr", "") in ("sum", "copy") and not value.args
        return method or is_elementwise(value, facts)
    return isinstance(value, gast.BinOp)


def _turn(node: Node, value: Node, readers: list[Node], facts: Facts) -> None:
    """Let the name hold `value`, the negative of what it holds, if what is left is shorter.

    It is no adjoint then, and is called a temporary.
    """
    held = str(target(node))
    if any(isinstance(reader, COMPOUND) or not hasattr(reader, "value") for reader in readers):
        return
    before = _signs(node.value) + sum(_signs(reader.value) for reader in readers)
    if isinstance(value, gast.Name) and _is_number(value.id, facts):
        before += 1  # a sign of a number costs nothing, and one is shorter than a line
    after, changed = _signs(value), []
    for reader in readers:
        other = _read_negative(reader, held, facts)
        after += _signs(other.value)
        changed.append(other)
    shorter = after == before and isinstance(value, gast.Name)  # then the name goes as well
    if after < before or shorter:
        node.value = value
        if facts.names.adjoint_of.get(held) in facts.names.temporaries:
            facts.names.opposites[held] = None
        for reader, other in zip(readers, changed, strict=True):
            reader.value = other.value
            if isinstance(reader, gast.AugAssign) and isinstance(other, gast.AugAssign):
                reader.op = other.op


def _is_number(held: str, facts: Facts) -> bool:
    spec = facts.values.value_spec.get(facts.names.adjoint_of.get(held, held))
    return held in facts.names.seeds or (spec is not None and spec.scalar)


def _read_negative(reader: Node, held: str, facts: Facts) -> Node:
    """A statement that reads `-t` where it has read t, with its signs in their places."""
    other = copy_with_facts(reader, facts)
    shapes = {id(n.args[1]) for n in find_nodes(other, gast.Call) if _is_fitted(n, facts)}
    for item in [n for n in find_nodes(other.value, gast.Name) if n.id == held and id(n) not in shapes]:
        replace(other, item, gast.UnaryOp(gast.USub(), name(held)))
    return settle_signs(other, facts)


def _is_fitted(call: Node, facts: Facts) -> bool:
    """Whether a call reads the shape alone of its second argument."""
    return len(call.args) == 2 and fits(call, facts)


def _signs(value: Node) -> int:
    """How many operations turn a sign."""
    return sum(isinstance(n, gast.UnaryOp) and isinstance(n.op, gast.USub) for n in walk(value))


def unpack_results(program: Program, facts: Facts) -> Program:
    """Unpack the tuple that a callee returned in the statement that calls it."""
    uses = count(program.block)
    program.forward = rewrite_blocks(program.forward, lambda block: _block(block, uses, facts))
    for node in statements(program.forward):
        if gives_several(node, facts):
            for item in node.targets[0].elts:
                if item.id in facts.names.temporaries and not uses.read.get(item.id):
                    item.id = facts.unused_name
    program.backward = [one for node in program.backward for one in _parts(node, uses, facts)]
    program.backward = rewrite_blocks(program.backward, lambda block: _bound_at_once(block, uses, facts))
    return program


def _parts(node: Node, uses: Uses, facts: Facts) -> Block:
    """The items of a seed of which each is read once, `y_bar[k]`, as they are written where they are read."""
    if not _unpacks(node) or node.value.id not in facts.names.seeds:
        return [node]
    held = [part.id for part in node.targets[0].elts]
    if any(uses.read.get(one, 0) > 1 for one in held):
        return [node]
    return [
        at(assign(one, expression(f"{node.value.id}[{position}]"), node), node) for position, one in enumerate(held)
    ]


def _bound_at_once(block: Block, uses: Uses, facts: Facts) -> Block:
    """Names that are bound to results right behind a call, in the place of the temporaries that hold them."""
    made: Block = []
    for node in block:
        part = _result(node, made, uses, facts)
        if part is None:
            made.append(node)
        else:
            part.id = node.targets[0].id
    return made


def _result(node: Node, made: Block, uses: Uses, facts: Facts) -> Node | None:
    """The place among a call's results of what a statement binds to a name, where nothing else reads it."""
    bound = target(node)
    if bound is None or not isinstance(node, gast.Assign) or not isinstance(node.value, gast.Name):
        return None
    held = node.value.id
    if node in facts.tape.pushes or node in facts.tape.restores or held not in facts.names.temporaries:
        return None
    if not uses.used_once(held):
        return None
    for before in reversed(made):
        if isinstance(before, COMPOUND) or bound in stores(before):
            return None
        if held in stores(before):
            places = before.targets[0] if isinstance(before, gast.Assign) else None
            if not isinstance(places, gast.Tuple) or not isinstance(before.value, gast.Call):
                return None
            return next((part for part in places.elts if isinstance(part, gast.Name) and part.id == held), None)
        if bound in loads(before):
            return None
    return None


def _block(block: Block, uses: Uses, facts: Facts) -> Block:
    made: Block = []
    for node in block:
        if not (_unpacks(node) and made and _rename_temporary(node, made, uses, facts)):
            made.append(node)
    return made


def _unpacks(node: Node) -> bool:
    return (
        isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Tuple) and isinstance(node.value, gast.Name)
    )


def _rename_temporary(node: Node, made: Block, uses: Uses, facts: Facts) -> bool:
    """Put the names of `node` in the place of the temporary that a statement right before it binds."""
    held = node.value.id
    if held not in facts.names.temporaries and facts.names.adjoint_of.get(held) not in facts.names.temporaries:
        return False
    if not uses.used_once(held):
        return False
    before = made[-1]
    if not (isinstance(before, gast.Assign) and isinstance(before.targets[0], gast.Tuple)):
        return False
    parts = before.targets[0].elts
    for position, part in enumerate(parts):
        if isinstance(part, gast.Name) and part.id == held:
            parts[position] = node.targets[0]
            return True
    return False
