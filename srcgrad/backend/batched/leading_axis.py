"""The leading axis: one run of a text for all directions or all seeds (vmap).

How many directions there are gets a name where it is read again and again: `m = len(x_dot)`.

The pass that gives a text its leading axis: all directions, or all seeds, in one run.
"""

from __future__ import annotations

import gast

from srcgrad.backend.batched import (
    helper_rules,  # noqa: F401  they fill the table
    product_rules,  # noqa: F401  they fill the table
    reduction_rules,  # noqa: F401  they fill the table
    shape_rules,  # noqa: F401  they fill the table
)
from srcgrad.backend.batched.expressions import Axis, Expressions
from srcgrad.backend.batched.helper_rules import rows_first
from srcgrad.backend.batched.simplify import (
    group_matrix_products,
    index_before_product,
    move_signs_inward,
    reshape_before_broadcast,
)
from srcgrad.backend.batched.statements import Statements
from srcgrad.backend.batched.values import OTHER, UNKNOWN, NoAxisError, Value, add_leading_axis, of_kind
from srcgrad.core.facts import Facts
from srcgrad.core.trees import (
    Node,
    assign,
    copy,
    header,
    literal_node,
    name,
    same_tree,
    statements,
    stores,
    walk,
    written_names,
)
from srcgrad.core.visitor import replace
from srcgrad.derive.program import Program
from srcgrad.optimise.dead_code import drop
from srcgrad.optimise.inline_expressions import WIDTH, inline_within
from srcgrad.optimise.naming import number_temporaries

_OFTEN = 3  # reads that are worth a line


def bind_direction_count(program: Program, facts: Facts, count: Node) -> None:
    """Bind the count of directions at the beginning of a text that reads it more than twice."""
    reads = [
        (node, call)
        for node in [*statements(program.forward), program.result]
        for part in header(node)
        for call in walk(part)
        if isinstance(call, gast.Call) and same_tree(call, count)
    ]
    seeds = [one for node in statements(program.block) for one in stores(node) if one in facts.seeds]
    if len(reads) < _OFTEN or seeds or facts.mode == "vjp":
        return
    bound = facts.names.fresh("m")
    for node, call in reads:
        replace(node, call, name(bound))
    made = assign(bound, copy(count))
    facts.tangents[made] = None
    program.forward.insert(0, made)


def leading_axis(program: Program, facts: Facts) -> Program:
    """Give every tangent, in mode vjp every adjoint, an axis more, the first one.

    Raises NoAxisError where it cannot be told what the text would have to be.
    """
    if facts.mode == "primal":
        return program
    if facts.mode not in ("forward", "hvp", "vjp") or facts.contexts or facts.step is not None:
        raise NoAxisError("the text is of a kind that has no leading axis")
    if any(facts.calls_hooks(node) for node in statements(program.backward)):
        raise NoAxisError("hooks take the adjoint of one seed")
    if facts.snapshots or facts.recomputed:
        raise NoAxisError("the text makes values again from few states")
    axis = Axis(dict.fromkeys(facts.seeds))
    regroups = facts.mode == "forward" and facts.module.leading.regroup and not facts.called
    if regroups or not _is_straight(program, facts):
        known = _find_batched_names(program, facts, axis)
        if regroups:
            _regroup(program, facts, axis, known)
    final = _run(program, facts, axis, final=True)
    move_signs_inward(program, facts, axis.names)
    if facts.module.leading.regroup:
        rows_first(program, facts, axis.names)
        reshape_before_broadcast(program, facts)
    if final is not None:
        bind_direction_count(program, facts, final.text.count)
    return number_temporaries(inline_within(program, facts, WIDTH), facts) if facts.pushes_forward else program


def _is_straight(program: Program, facts: Facts) -> bool:
    """Whether one look at each line tells all: of names that are bound once, one after the other, as wholes."""
    plain = all(isinstance(node, gast.Assign) and not written_names(node) for node in program.block[:-1])
    return plain and facts.pushes_forward and _is_bound_once(program, facts)


def _is_bound_once(program: Program, facts: Facts) -> bool:
    bound = [*program.parameters, *facts.seeds, *(one for node in statements(program.block) for one in stores(node))]
    return len(bound) == len(set(bound))


def _find_batched_names(program: Program, facts: Facts, axis: Axis) -> Statements | None:
    """Go through the text until all names with the axis are found; what is known then, in forward mode."""
    loops = any(isinstance(node, gast.For | gast.While) for node in statements(program.block))
    once = not loops and _is_bound_once(program, facts)  # nothing is read before all is known of it
    while True:
        before, known = axis.state, None
        try:
            known = _run(program, facts, axis, final=False)
        except NoAxisError:
            if axis.state == before:
                raise
        if axis.state == before or (once and known is not None and not axis.writes):
            return known


def _regroup(program: Program, facts: Facts, axis: Axis, known: Statements | None) -> None:
    """Products in another order, where the ranks are known: what matters with many directions."""
    if known is not None:
        index_before_product(program, facts, lambda node: rank_of(known.text, node), known.text.known)
    after = _run(program, facts, axis, final=False)
    if after is not None:
        group_matrix_products(program, facts, after.text)
    drop(program, facts)


def rank_of(text: Expressions, node: Node) -> int | None:
    """The rank that an expression has in each direction; None where it is not known."""
    try:
        return text.look(node)[1].ndim
    except NoAxisError:
        return None


def _run(program: Program, facts: Facts, axis: Axis, *, final: bool) -> Statements | None:
    """Go through the text; what is known of its names at the end, in forward mode."""
    known = {parameter: of_kind(facts.kinds[parameter]) for parameter in program.parameters if parameter in facts.kinds}
    if facts.mode == "vjp":
        _pullback(program, facts, known, axis, final)
        return None
    for seed, wanted in zip(facts.seeds, facts.wrt, strict=True):
        known[seed] = _seed(known.get(wanted, UNKNOWN))
    text = _first_statements(facts, known, axis)
    text.final = final
    forward = text.block(program.forward)
    backward = text.block(program.backward)
    value = program.result.value
    whole = facts.mode == "forward"
    output = text.text.look(value.elts[0])[1] if whole else UNKNOWN
    result, found = text.text.own(value.elts[1] if whole else value, zero=True)
    result = text.text.with_axis(result, found)
    if final:
        program.forward, program.backward = forward, backward
        facts.outcome = output, add_leading_axis(found)
        if whole:
            value.elts[1] = result
        else:
            program.result.value = result
    return text


def _pullback(program: Program, facts: Facts, known: dict[str, Value], axis: Axis, final: bool) -> None:
    text = _first_statements(facts, known, axis)
    text.block(program.forward)
    output = text.text.look(program.result.value.elts[0])[1]
    if facts.module.leading.output is not None and not facts.called:
        output = of_kind(facts.module.leading.output)
        if isinstance(program.result.value.elts[0], gast.Name):
            text.text.known[program.result.value.elts[0].id] = output
    seed = facts.seeds[0]
    text.text.known[seed] = _seed(output)
    text.text.first = _first_of_seed(seed, text.text.known[seed])
    text.block(facts.fresh_copies)
    text.final = final
    backward = text.block(program.backward)
    result, found = text.text.own(program.result.value.elts[1], zero=True)
    if final:
        program.backward = backward
        program.result.value.elts[1] = text.text.with_axis(result, found)
        facts.outcome = output, add_leading_axis(found)


def _seed(value: Value) -> Value:
    """What is known of a tangent or a seed of a value."""
    if value == OTHER:
        raise NoAxisError("an argument, or the output, is an object")
    return add_leading_axis(value)


def _first_statements(facts: Facts, known: dict[str, Value], axis: Axis) -> Statements:
    first = name("") if facts.mode == "vjp" else _first_of_seed(facts.seeds[0], known[facts.seeds[0]])
    return Statements(facts, known, first, axis)


def _first_of_seed(seed: str, value: Value) -> Node:
    """The first array of a seed: its length is the number of directions."""
    path: Node = name(seed)
    while value.container:
        having = [(key, item) for key, item in value.items or () if item.batched]
        if not having:
            raise NoAxisError("the argument, or the output, holds no array")
        key, value = having[0]
        path = gast.Subscript(path, literal_node(key), gast.Load())
    return path
