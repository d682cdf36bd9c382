"""Expressions put together again, and the order of lines.

A value that is named only to be read once is written where it is read, in a line that has room for it: the forward half
reads as the user wrote it. Within the lines that undo one statement temporaries come first, then adjoints in the order
of its operands. A sum begins with its first two terms: `u = v`, and then `u = u + e`, are `u = v + e`; it is written
where it is only stored:

    b_bar = c * b
    b_bar += e[:, :n]       =>  a_bar[:, d:] = c * b + e[:, :n]
    a_bar[:, d:] = b_bar
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.array_regions import canonical_spec
from srcgrad.analysis.dtypes import operand_of_negative
from srcgrad.analysis.shapes import spec_of_tree
from srcgrad.core.facts import Facts, copy_with_facts, function_called
from srcgrad.core.identity import record
from srcgrad.core.printer import STEP
from srcgrad.core.printer import statement as spelled
from srcgrad.core.trees import (
    COMPOUND,
    NOTHING,
    Block,
    Node,
    adds_axes,
    copy,
    find_nodes,
    header,
    is_basic,
    is_write,
    loads,
    same_tree,
    statements,
    stores,
    target,
    walk,
    without_axes,
    written_names,
)
from srcgrad.core.visitor import WIDTH as LINE
from srcgrad.core.visitor import Uses, count, positions, replace, rewrite_blocks, rewrite_nested
from srcgrad.derive.in_place_writes import is_pop
from srcgrad.derive.program import Program
from srcgrad.frontend.desugar.assignments import is_inside
from srcgrad.optimise.loops import mentions_in, names_mentioned
from srcgrad.optimise.loops import names_changed as loop_fusion_stored
from srcgrad.optimise.tape import is_final

_LINES = 3  # of a call with all of its arguments in one
_SHORTER = 8  # columns that a line of arguments loses when temporaries are counted


def forward_substitution(program: Program, facts: Facts) -> Program:
    """Write single-use temporaries and adjoints of temporaries where they are read, never into a loop.

    Evaluation order changes only between operations without effect; nothing is computed twice.
    """
    return inline_within(program, facts, LINE)


def inline_within(program: Program, facts: Facts, width: int) -> Program:
    """As `forward_substitution`, where the line that reads a value has at most `width` columns then."""
    uses = count(program.block)
    uses.width = width
    top = _inlined_block([*program.forward, NOTHING, *program.backward, program.result], facts, uses, 4)
    split = top.index(NOTHING)
    program.forward, program.backward = top[:split], top[split + 1 : -1]
    return program


@record(frozen=True)
class _OpenBlock:
    """A block while names are replaced in it: what waits to be replaced, by its place, and what has gone."""

    made: list[Node]
    written: dict[str, list[int]]  # places where names are bound
    facts: Facts
    uses: Uses
    pending: dict[str, int] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)
    repeated: set[str] = field(default_factory=set)  # names whose value is written more than once
    popping: dict[Node, None] = field(default_factory=dict)  # statements that take a value off a list now


def _inlined_block(block: Block, facts: Facts, uses: Uses, indent: int) -> Block:
    state = _OpenBlock(list(block), positions(block), facts, uses)
    pending = state.pending
    mentioned: dict[str, list[int]] = {}
    for position, node in enumerate(block):
        if node is None:
            indent += STEP * (facts.request.mode == "vjp" and uses.width > LINE)
            continue
        for part in _open_parts(node, facts):
            _fill(part, node, position, state, indent)
        if isinstance(node, COMPOUND):
            node.body = _inlined_block(node.body, facts, uses, indent + 4)
            node.orelse = _inlined_block(node.orelse, facts, uses, indent + 4) if getattr(node, "orelse", None) else []
        bound = target(node)
        for other in stores(node):
            pending.pop(other, None)
        if bound is not None and node not in state.popping and is_inlinable(bound, node, facts):
            if uses.bound.get(bound) == 1:
                wanted = uses.read.get(bound) == 1 or _is_part(bound, node, facts)
            else:
                mentioned = mentioned or mentions_in(block)
                behind = mentioned.get(bound, [])
                wanted = _is_passing(bound, [block[k] for k in behind[bisect_right(behind, position) :]], facts)
            if wanted:
                pending[bound] = position
    for bound in [b for b in pending if b in state.repeated and not uses.read.get(b)]:
        state.gone.add(pending[bound])
    return [node for position, node in enumerate(state.made) if position not in state.gone]


def _open_parts(node: Node, facts: Facts) -> list[Node]:
    """Parts of a statement in which a name may be replaced: loops evaluate theirs more than once, or not at all.

    A result has names but for a value that stands beside its pullback; kernels end at statements.
    """
    plain = facts.module is not None and facts.module.target.as_written
    if isinstance(node, gast.While | gast.Return):
        beside = plain and facts.request.mode == "vjp" and isinstance(node, gast.Return)
        return [node.value] if beside and node.value is not None else []
    if isinstance(node, gast.For):
        return [node.iter]
    if plain and function_called(getattr(node, "value", None), facts) is runtime.check_seed:
        return []  # the value whose shape is checked has a line of its own
    return header(node)


def is_inlinable(bound: str, node: Node, facts: Facts) -> bool:
    if node in facts.tape.pushes or node in facts.tape.restores or node in facts.tape.zeros:
        return False
    if written_names(node) and not is_pop(node.value):
        return False
    if facts.calls_hooks(node) or node.value in facts.calls.fills:
        return False  # it is a line of its own, which is run in its turn
    if bound in facts.names.temporaries:
        return True
    primal = facts.names.adjoint_of.get(bound)
    return primal is not None and primal not in facts.request.wrt and bound not in facts.memory.elements


def _is_passing(bound: str, behind: Block, facts: Facts) -> bool:
    """Whether a value is read once before its name is bound again, in the same block, to more than a sum with it.

    `behind` are the statements behind it that mention it.
    """
    reads = 0
    for node in behind:
        if isinstance(node, COMPOUND):
            return False
        reads += loads(node).count(bound)
        if bound in stores(node):
            whole = (
                isinstance(node, gast.Assign)
                and bound not in written_names(node)
                and node not in facts.tape.accumulates
            )
            return whole and reads == 1
        if reads > 1:
            return False
    return False


def _is_part(bound: str, node: Node, facts: Facts) -> bool:
    """Whether a temporary is a part `x[i]` of a named array, by a name or a literal: a view, which costs nothing."""
    value = node.value
    if bound not in facts.names.temporaries or not isinstance(value, gast.Subscript):
        return False
    return isinstance(value.value, gast.Name) and is_basic(value.slice, frozenset(facts.values.integers))


def _fill(part: Node, node: Node, position: int, state: _OpenBlock, indent: int) -> None:
    """Replace pending names read in `part` by their expressions, where that is safe and fits the line."""
    pending, facts, uses = state.pending, state.facts, state.uses
    if pending.keys().isdisjoint(loads(part)):
        return
    reads = [n for n in find_nodes(part, gast.Name) if isinstance(n.ctx, gast.Load) and n.id in pending]
    for read in reads:
        source = state.made[pending[read.id]]
        if not is_steady(source.value, pending[read.id], position, state.written, facts):
            continue
        if is_pop(source.value) and not _may_pop(source, node, position, state):
            continue
        if any(is_inside(source, one) != is_inside(node, one) for one in facts.origin.contexts):
            continue  # `np.errstate` is meant for this line, and not for that
        user = facts.origin.user.get(source)
        own = user is not None and user is facts.origin.user.get(node)
        line = gast.Expr(part.elts[0]) if isinstance(node, gast.Return) else node
        room = uses.width - indent - (len(f"return , {facts.names.back}") if line is not node else 0)
        fits = own or has_room(source.value, line, read.id, room)
        if not fits and not _is_seed(source.value, read, node, indent):
            continue
        if _is_subject(read, node):
            continue
        if source in facts.resolution.moving:
            facts.resolution.moving[node] = None
        if read.id in facts.names.adjoint_of and not isinstance(source.value, gast.Name) and hasattr(source, "lineno"):
            facts.origin.joined.setdefault(source.value, source.lineno)
        if read.id not in state.repeated and (uses.read[read.id] == 1 or uses.bound[read.id] > 1):
            replace(node, read, source.value)
            _rejoin(node, source.value, facts)
            if isinstance(source.value, gast.Tuple):
                _spell_out_star(node)
            if is_pop(source.value):
                state.popping[node] = None
            state.gone.add(pending.pop(read.id))
            continue
        state.repeated.add(read.id)  # a part such as x[i] may be written more than once
        uses.read[read.id] -= 1
        replace(node, read, copy_with_facts(source.value, facts))


def _may_pop(source: Node, node: Node, position: int, state: _OpenBlock) -> bool:
    """Whether the next statement may take a value off a list where it reads it: it mentions the list nowhere else."""
    start = state.pending[str(target(source))]
    next_one = all(k in state.gone for k in range(start + 1, position))
    return (
        next_one
        and state.uses.width > LINE
        and is_final(state.facts)
        and not isinstance(node, COMPOUND)
        and source.value.func.value.id not in names_mentioned(node)
    )


def is_steady(value: Node, start: int, end: int, written: dict[str, list[int]], facts: Facts) -> bool:
    """Whether nothing that `value` reads is bound between two positions of the block."""
    for read in facts.names_and_bases(item.id for item in find_nodes(value, gast.Name)):
        places = written.get(read, ())
        after = bisect_right(places, start)
        if after < len(places) and places[after] < end:
            return False
    return True


def has_room(value: Node, node: Node, name: str, room: int) -> bool:
    if isinstance(node, COMPOUND):
        return isinstance(value, gast.Name)
    length = len(spelled(gast.Expr(value), width=10_000)[0]) + max(map(len, spelled(node, width=10_000)))
    return length - len(name) <= room


def _is_seed(value: Node, read: Node, node: Node, indent: int) -> bool:
    """Whether a tuple fits into a call that takes several lines anyway: it takes no more of them.

    If its items are the arguments, and all of these fit into one line, the call is better read without a name for them.
    """
    if not isinstance(value, gast.Tuple) or isinstance(node, COMPOUND):
        return False
    apart = any(isinstance(n, gast.Starred) and n.value is read for n in walk(node))
    before = len(spelled(node, indent))
    replace(node, read, value)
    trial = copy(node)
    replace(node, value, read)
    _spell_out_star(trial)
    if apart and len(spelled(trial, indent - _SHORTER)) <= _LINES:
        return True
    after = len(spelled(trial, indent))
    return 1 < after <= before


def _is_subject(read: Node, node: Node) -> bool:
    """Whether a name is the array that a statement changes in place."""
    return any(name == read.id for name in stores(node))


def _rejoin(node: Node, part: Node, facts: Facts) -> None:
    """`e` for `e[:, 0][:, None]`, where the axis has length 1."""
    if part not in facts.activity.narrowed:
        return
    for whole in walk(node):
        if isinstance(whole, gast.Subscript) and whole.value is part and adds_axes(whole.slice):
            if same_tree(without_axes(whole.slice), part.slice):
                replace(node, whole, part.value)
                return


def _spell_out_star(node: Node) -> None:
    """`g(a, b)` for `g(*(a, b))`."""
    for call in walk(node):
        if isinstance(call, gast.Call) and any(_is_display(item) for item in call.args):
            call.args = [one for item in call.args for one in (item.value.elts if _is_display(item) else [item])]


def _is_display(item: Node) -> bool:
    return isinstance(item, gast.Starred) and isinstance(item.value, gast.Tuple)


def sort_adjoint_lines(program: Program, facts: Facts) -> Program:
    """Sort each group of lines, keeping what depends on what; join two contributions that meet in one group."""
    program.backward = rewrite_nested(
        program.backward, lambda block, depth: _ordered_block(block, facts, STEP + STEP * depth)
    )
    return program


def _ordered_block(block: Block, facts: Facts, indent: int) -> Block:
    made: Block = []
    group: Block = []
    for node in [*block, None]:
        if group and (node is None or not _belong_together(group[0], node, facts)):
            made += _join_sums(_schedule_group(group, facts), facts, indent)
            group = []
        if node is None:
            break
        if isinstance(node, COMPOUND) or node in facts.tape.zeros:
            made.append(node)
        else:
            group.append(node)
    return made


def _belong_together(one: Node, two: Node, facts: Facts) -> bool:
    if isinstance(two, COMPOUND) or two in facts.tape.zeros:
        return False
    return getattr(one, "lineno", 0) == getattr(two, "lineno", 0)


def _schedule_group(group: Block, facts: Facts) -> Block:
    """A list schedule: the most urgent statement of those whose predecessors have been placed."""
    if len(group) > 60:
        return group
    after = _dependencies(group, facts)
    rank = {node: _rank(position, node, group, facts) for position, node in enumerate(group)}
    left = list(range(len(group)))
    placed: list[int] = []
    while left:
        ready = [k for k in left if not any(j in left for j in after[k])]
        chosen = min(ready, key=lambda k: rank[group[k]])
        placed.append(chosen)
        left.remove(chosen)
    return [group[k] for k in placed]


def _dependencies(group: Block, facts: Facts) -> list[list[int]]:
    reads = [facts.names_and_bases(loads(n)) for n in group]
    writes = [set(stores(n)) for n in group]
    for bound in [writes[k] for k, n in enumerate(group) if facts.calls_hooks(n)]:
        bound.add("hooks")  # they are called in their order
    return [
        [j for j in range(k) if writes[j] & reads[k] or reads[j] & writes[k] or writes[j] & writes[k]]
        for k in range(len(group))
    ]


def _rank(position: int, node: Node, group: Block, facts: Facts) -> tuple[int, int]:
    bound = stores(node)
    primal = facts.names.adjoint_of.get(bound[0]) if bound else None
    if primal is None or primal in facts.names.temporaries:
        return (0, position)
    return (1, facts.origin.mention.get((getattr(node, "lineno", 0), primal), position))


def _join_sums(group: Block, facts: Facts, indent: int) -> Block:
    """`x_bar = a` and, next, `x_bar = x_bar + b` are `x_bar = a + b`."""
    made: Block = []
    for node in group:
        bound = target(node)
        if made and bound is not None and target(made[-1]) == bound and node in facts.tape.accumulates:
            first = made[-1]
            value = node.value
            again = [n for n in find_nodes(value.right, gast.Name) if n.id == bound]
            if not again and first not in facts.tape.restores:
                minus = isinstance(value.op, gast.Sub)
                begun = _sum_to_of_copy(first.value, facts)
                total = _sum_to_of_sum(begun, value.op, value.right, facts)
                if total is None:
                    total = gast.BinOp(begun, value.op, value.right) if minus else add_terms(begun, value.right, facts)
                joined = gast.Assign(first.targets, total, None)
                joined.lineno = first.lineno
                if max(map(len, spelled(joined, width=10_000))) + indent <= LINE:
                    if first in facts.tape.accumulates:
                        facts.tape.accumulates[joined] = None
                    made[-1] = joined
                    continue
        made.append(node)
    return made


def _sum_to_of_copy(value: Node, facts: Facts) -> Node:
    """The `sum_to(g, x)` of `np.array(sum_to(g, x))`: what it is added to makes a new array."""
    if function_called(value, facts) is not np.array:
        return value
    inner = value.args[0] if len(value.args) == 1 and not value.keywords else None
    return inner if inner is not None and function_called(inner, facts) is runtime.sum_to else value


def _sum_to_of_sum(one: Node, op: Node, two: Node, facts: Facts) -> Node | None:
    """`sum_to(a + b, x)` for `sum_to(a, x) + sum_to(b, x)`, where a and b have one shape."""
    for call in (one, two):
        if function_called(call, facts) is not runtime.sum_to or len(call.args) != 2 or call.keywords:
            return None
    made, other = spec_of_tree(one.args[0], facts), spec_of_tree(two.args[0], facts)
    if (
        made.scalar
        or canonical_spec(made).shape != canonical_spec(other).shape
        or not same_tree(one.args[1], two.args[1])
    ):
        return None
    inner = (
        gast.BinOp(one.args[0], op, two.args[0])
        if isinstance(op, gast.Sub)
        else add_terms(one.args[0], two.args[0], facts)
    )
    return gast.Call(one.func, [inner, one.args[1]], [])


def add_terms(one: Node, two: Node, facts: Facts) -> Node:
    """`one + two`, with signs as a person writes them."""
    minus = operand_of_negative(two, facts)
    if minus is not None:
        return gast.BinOp(one, gast.Sub(), minus)
    minus = operand_of_negative(one, facts)
    if minus is not None:
        return gast.BinOp(two, gast.Sub(), minus)
    return gast.BinOp(one, gast.Add(), two)


def second_names(program: Program, facts: Facts) -> Program:
    """Drop a second name that is bound only to be added to; so with the negative of a value, or a multiple.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(x: float):\\n    k = np.sin(x)\\n    return (k + np.cos(k)) * (k + x)"
    >>> [line for line in explain_text(text, after="second_names").splitlines() if line.startswith("k_bar")][0]
    'k_bar = t4_bar + t2_bar'
    """
    program.backward = rewrite_blocks(program.backward, lambda block: _block(block, facts))
    return program


def _block(block: Block, facts: Facts) -> Block:
    made: Block = []
    said: list[set[str]] = []  # the names that each of these mentions
    for node in block:
        first = _first_sum_position(node, made, said, facts) if node in facts.tape.accumulates else None
        if first is not None:
            del said[first]
            node.value = _sum(made.pop(first).value, node.value, facts)
            del facts.tape.accumulates[node]
        made.append(node)
        said.append(set(names_mentioned(node)))
    return made


def _first_sum_position(node: Node, made: Block, said: list[set[str]], facts: Facts) -> int | None:
    """Where the sum to which a statement adds is bound to another name, which holds the same still."""
    bound = target(node)
    if bound is None or not isinstance(node.value, gast.BinOp) or getattr(node.value.left, "id", "") != bound:
        return None
    if bound in loads(node.value.right):
        return None
    position = next((k for k in reversed(range(len(made))) if bound in said[k]), None)
    if position is None:
        return None
    before, between = made[position], made[position + 1 :]
    read = _multiple(before.value) if target(before) == bound else None
    if read is None or before in facts.tape.restores or before in facts.tape.pushes or before in facts.tape.accumulates:
        return None
    if read == bound or read in loop_fusion_stored(between):
        return None
    writes = any(_writes(each) for each in statements(between))  # perhaps into what the value shows
    return position if not writes or isinstance(before.value, gast.Name) else None


def _writes(node: Node) -> bool:
    """Whether a statement changes elements; what takes a value off a list changes none."""
    return bool(written_names(node)) and not (isinstance(node, gast.Assign) and is_pop(node.value))


def _multiple(value: Node) -> str | None:
    """The v of `v`, `-v`, `v * 2.0`; None for any other value."""
    if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
        value = value.operand
    elif isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult) and isinstance(value.right, gast.Constant):
        value = value.left
    return value.id if isinstance(value, gast.Name) else None


def _sum(first: Node, value: Node, facts: Facts) -> Node:
    """`first + e` for a value that is `u + e`, `first - e` for `u - e`."""
    if isinstance(value.op, gast.Add):
        return add_terms(first, value.right, facts)
    return gast.BinOp(first, value.op, value.right)


def restore_user_statements(program: Program, facts: Facts) -> Program:
    """Put the user's statement in the place of the normal statements that stand for it."""
    readers: dict[str, list[Node]] = {}
    for node in statements(program.block):
        user = facts.origin.user.get(node, node) if node not in facts.resolution.effects else node
        for name in loads(node):
            if name in facts.names.temporaries:
                readers.setdefault(name, []).append(user)
    program.forward = _spelled_block(program.forward, readers, facts)
    return program


def _spelled_block(block: Block, readers: dict[str, list[Node]], facts: Facts) -> Block:
    made: Block = []
    position = 0
    while position < len(block):
        node = block[position]
        user = facts.origin.user.get(node)
        if user is None or node in facts.resolution.effects:
            if isinstance(node, COMPOUND):
                node.body = _spelled_block(node.body, readers, facts)
                node.orelse = _spelled_block(getattr(node, "orelse", None) or [], readers, facts)
            made.append(node)
            position += 1
            continue
        run, end = _run(block, position, user, facts)
        saves = [n for n in block[position:end] if n in facts.tape.pushes or n in facts.tape.tangents]
        plain = _plain_user_statement(user, facts)
        if plain is not None and _run_is_private(run, user, readers, facts):
            made += _place_user_statement(block[position:end], saves, plain, facts)
        else:
            made += block[position:end]
        position = end
    return made


def _place_user_statement(run: Block, others: Block, plain: Node, facts: Facts) -> Block:
    """The user's statement where the last of its run was: saves before it, tangents on their own side."""
    last = max(k for k, node in enumerate(run) if node not in others)
    if any(node in facts.resolution.moving for node in run):
        facts.resolution.moving[plain] = None
    before = [n for n in run[:last] if n in others]
    return [*before, plain, *(n for n in run[last:] if n in others)]


def _run(block: Block, start: int, user: Node, facts: Facts) -> tuple[Block, int]:
    """The statements that stand for `user`, and the position after the last of them; saves may lie between."""
    run: Block = []
    end = start
    for position in range(start, len(block)):
        node = block[position]
        if node in facts.resolution.effects:
            break
        if facts.origin.user.get(node) is user:
            run.append(node)
            end = position + 1
        elif node not in facts.tape.pushes and node not in facts.tape.tangents:
            break
    return run, end


def _plain_user_statement(user: Node, facts: Facts) -> Node | None:
    """The user's statement, if it is one that binds names."""
    plain = facts.origin.plain.get(user, user)
    return plain if isinstance(plain, gast.Assign) and user not in facts.origin.rewritten else None


def _run_is_private(run: Block, user: Node, readers: dict[str, list[Node]], facts: Facts) -> bool:
    """Whether the run still binds one of the user's names, and its temporaries are read by itself only."""
    flat = list(statements(run))
    added = (facts.tape.pushes, facts.tape.tangents, facts.resolution.effects)
    if any(node in one for node in flat for one in added):
        return False  # a conditional expression that something was added to: a record, a check
    bound = [name for node in flat for name in stores(node)]
    if any(name in facts.names.temporaries and name not in bound for node in flat for name in loads(node)):
        return False  # a check stands between this and the rest
    if not any(name not in facts.names.temporaries for name in bound):
        return False
    plain = _plain_user_statement(user, facts)
    wanted = dict.fromkeys(stores(plain) if plain is not None else ())
    if any(name not in bound for name in wanted) or any(
        n not in wanted and n not in facts.names.temporaries for n in bound
    ):
        return False  # the latter: which way a conditional expression inside of another went is known by name
    return all(reader is user for name in bound if name in facts.names.temporaries for reader in readers.get(name, []))


WIDTH = 88


def substitute_within_page(program: Program, facts: Facts) -> Program:
    """Write values where they are read, if the line keeps within the page; kernels are cut between statements.

    The terms of an adjoint come into the line that stores it into a part of another one, if they fit there.
    """
    if is_final(facts):
        uses, indent = count(program.block), STEP + STEP * (facts.request.mode == "vjp")
        program.backward = rewrite_nested(
            program.backward, lambda block, depth: _stored_block(block, uses, facts, indent + STEP * depth)
        )
    if facts.module is not None and facts.module.target.kernels:
        return program
    return inline_within(program, facts, WIDTH)


def _stored_block(block: Block, uses: Uses, facts: Facts, indent: int) -> Block:
    terms: dict[str, list[int]] = {}
    gone: set[int] = set()
    written = positions(block)
    for position, node in enumerate(block):
        if isinstance(node, COMPOUND):
            continue
        if target(node) is not None or isinstance(getattr(node, "target", None), gast.Name):
            terms.setdefault(stores(node)[0], []).append(position)
        elif is_write(node) and isinstance(node.value, gast.Name):
            held, places = node.value.id, terms.get(node.value.id, [])
            if len(places) != 2 or uses.bound.get(held) != 2 or uses.read.get(held) != 2:
                continue
            total = _stored_sum(held, block[places[0]], block[places[1]], facts)
            steady = all(is_steady(block[k].value, k, position, written, facts) for k in places)
            around = [
                is_inside(one, each) for each in facts.origin.contexts for one in (node, *(block[k] for k in places))
            ]
            if total is not None and steady and not any(around) and has_room(total, node, held, uses.width - indent):
                node.value = total
                gone.update(places)
    return [node for position, node in enumerate(block) if position not in gone]


def _stored_sum(held: str, first: Node, second: Node, facts: Facts) -> Node | None:
    """The `e + g` of `u = e` and `u += g`; None if they are not of this form, or have to stay where they are."""
    if not isinstance(second, gast.AugAssign) or not isinstance(second.op, gast.Add | gast.Sub):
        return None
    if target(first) != held or not is_inlinable(held, first, facts) or facts.calls_hooks(second):
        return None
    if isinstance(second.op, gast.Sub):
        return gast.BinOp(first.value, second.op, second.value)
    return add_terms(first.value, second.value, facts)
