"""Put expressions together again: a value that is named only to be read once is written where it is read."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from itertools import chain

import gast

from srcgrad.derive.program import Program
from srcgrad.emit.text import STEP
from srcgrad.emit.text import statement as spelled
from srcgrad.facts import Facts, copied
from srcgrad.front.quiet import is_inside
from srcgrad.improve.commuting import mentions_in
from srcgrad.indices import adds_axes, is_basic, without_axes
from srcgrad.trees import (
    COMPOUND,
    SIMPLE,
    Block,
    Node,
    copy,
    header,
    loads,
    same,
    statements,
    stores,
    target,
    walk,
    written,
)

WIDTH = 80
_LINES = 3  # of a call with all of its arguments in one
_SHORTER = 8  # columns that a line of arguments loses when temporaries are counted


@dataclass
class Uses:
    """How often each name is read and bound in the whole program."""

    read: dict[str, int]
    bound: dict[str, int]
    width: int = WIDTH  # of a line, at most


def inline(program: Program, facts: Facts) -> Program:
    """Write single-use temporaries and adjoints of temporaries where they are read, never into a loop.

    Evaluation order changes only between operations without effect; nothing is computed twice.
    """
    return inlined(program, facts, WIDTH)


def inlined(program: Program, facts: Facts, width: int) -> Program:
    """As `inline`, where the line that reads a value has at most `width` columns then."""
    uses = count(program.block)
    uses.width = width
    top = _block([*program.forward, None, *program.backward, program.result], facts, uses, 4)
    split = top.index(None)
    program.forward, program.backward = top[:split], top[split + 1 : -1]
    return program


def count(block: Block) -> Uses:
    """Reads and bindings of every name."""
    order = statements(block)
    return Uses(Counter(chain.from_iterable(map(loads, order))), Counter(chain.from_iterable(map(stores, order))))


def bindings(block: Block) -> dict[str, int]:
    """How often each name is bound."""
    return Counter(chain.from_iterable(map(stores, statements(block))))


def _block(block: Block, facts: Facts, uses: Uses, indent: int) -> Block:
    written = positions(block)
    pending: dict[str, int] = {}
    made: list[Node] = list(block)
    gone: set[int] = set()
    repeated: set[str] = set()
    mentioned: dict[str, list[int]] = {}
    for position, node in enumerate(block):
        if node is None:
            indent += STEP * (facts.mode == "vjp" and uses.width > WIDTH)
            continue
        for part in _open_parts(node, facts):
            _fill(part, node, position, pending, made, gone, written, facts, indent, uses, repeated)
        if isinstance(node, COMPOUND):
            node.body = _block(node.body, facts, uses, indent + 4)
            node.orelse = _block(node.orelse, facts, uses, indent + 4) if getattr(node, "orelse", None) else []
        bound = target(node)
        for other in stores(node):
            pending.pop(other, None)
        if bound is not None and is_inlinable(bound, node, facts):
            if uses.bound.get(bound) == 1:
                wanted = uses.read.get(bound) == 1 or _is_part(bound, node, facts)
            else:
                mentioned = mentioned or mentions_in(block)
                behind = mentioned.get(bound, [])
                wanted = _is_passing(bound, [block[k] for k in behind[bisect_right(behind, position) :]], facts)
            if wanted:
                pending[bound] = position
    for bound in [b for b in pending if b in repeated and not uses.read.get(b)]:
        gone.add(pending[bound])
    return [node for position, node in enumerate(made) if position not in gone]


def positions(block: Block) -> dict[str, list[int]]:
    """Where in the block each name is bound, nested statements included."""
    written: dict[str, list[int]] = {}
    for position, node in enumerate(block):
        if node is None:
            continue
        for inner in statements([node]) if isinstance(node, COMPOUND) else [node]:
            for name in stores(inner):
                written.setdefault(name, []).append(position)
    return written


def _open_parts(node: Node, facts: Facts) -> list[Node]:
    """Parts of a statement in which a name may be replaced: loops evaluate theirs more than once, or not at all.

    A result has names but for a value that stands beside its pullback; kernels end at statements.
    """
    if isinstance(node, gast.While | gast.Return):
        plain = facts.mode == "vjp" and facts.module is not None and facts.module.target == "numpy"
        return [node.value] if plain and isinstance(node, gast.Return) else []
    if isinstance(node, gast.For):
        return [node.iter]
    return header(node)


def is_inlinable(bound: str, node: Node, facts: Facts) -> bool:
    if node in facts.pushes or node in facts.restores or node in facts.zeros or written(node):
        return False
    if facts.hooked(node) or node.value in facts.fills:
        return False  # it is a line of its own, which is run in its turn
    if bound in facts.temporaries:
        return True
    primal = facts.adjoint_of.get(bound)
    return primal is not None and primal not in facts.wrt and bound not in facts.elements


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
            whole = isinstance(node, gast.Assign) and bound not in written(node) and node not in facts.accumulates
            return whole and reads == 1
        if reads > 1:
            return False
    return False


def _is_part(bound: str, node: Node, facts: Facts) -> bool:
    """Whether a temporary is a part `x[i]` of a named array, by a name or a literal: a view, which costs nothing."""
    value = node.value
    if bound not in facts.temporaries or not isinstance(value, gast.Subscript):
        return False
    return isinstance(value.value, gast.Name) and is_basic(value.slice, frozenset(facts.integers))


def _fill(
    part: Node,
    node: Node,
    position: int,
    pending: dict[str, int],
    made: list[Node],
    gone: set[int],
    written: dict[str, list[int]],
    facts: Facts,
    indent: int,
    uses: Uses,
    repeated: set[str],
) -> None:
    """Replace pending names read in `part` by their expressions, where that is safe and fits the line."""
    if pending.keys().isdisjoint(loads(part)):
        return
    reads = [n for n in walk(part) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load) and n.id in pending]
    for read in reads:
        source = made[pending[read.id]]
        if not is_steady(source.value, pending[read.id], position, written, facts):
            continue
        if any(is_inside(source, one) != is_inside(node, one) for one in facts.contexts):
            continue  # `np.errstate` is meant for this line, and not for that
        user = facts.origin.get(source)
        own = user is not None and user is facts.origin.get(node)
        line = gast.Expr(part.elts[0]) if isinstance(node, gast.Return) else node
        room = uses.width - indent - (len(f"return , {facts.back}") if line is not node else 0)
        fits = own or has_room(source.value, line, read.id, room)
        if not fits and not _is_seed(source.value, read, node, indent):
            continue
        if _is_subject(read, node):
            continue
        if read.id not in repeated and (uses.read[read.id] == 1 or uses.bound[read.id] > 1):
            replace(node, read, source.value)
            _rejoin(node, source.value, facts)
            if isinstance(source.value, gast.Tuple):
                _spread(node)
            gone.add(pending.pop(read.id))
            continue
        repeated.add(read.id)  # a part such as x[i] may be written more than once
        uses.read[read.id] -= 1
        replace(node, read, copied(source.value, facts))


def is_steady(value: Node, start: int, end: int, written: dict[str, list[int]], facts: Facts) -> bool:
    """Whether nothing that `value` reads is bound between two positions of the block."""
    for read in facts.shown(item.id for item in walk(value) if isinstance(item, gast.Name)):
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
    _spread(trial)
    if apart and len(spelled(trial, indent - _SHORTER)) <= _LINES:
        return True
    after = len(spelled(trial, indent))
    return 1 < after <= before


def _is_subject(read: Node, node: Node) -> bool:
    """Whether a name is the array that a statement changes in place."""
    return any(name == read.id for name in stores(node))


def _rejoin(node: Node, part: Node, facts: Facts) -> None:
    """`e` for `e[:, 0][:, None]`, where the axis has length 1."""
    if part not in facts.narrowed:
        return
    for whole in walk(node):
        if isinstance(whole, gast.Subscript) and whole.value is part and adds_axes(whole.slice):
            if same(without_axes(whole.slice), part.slice):
                replace(node, whole, part.value)
                return


def _spread(node: Node) -> None:
    """`g(a, b)` for `g(*(a, b))`."""
    for call in walk(node):
        if isinstance(call, gast.Call) and any(_is_display(item) for item in call.args):
            call.args = [one for item in call.args for one in (item.value.elts if _is_display(item) else [item])]


def _is_display(item: Node) -> bool:
    return isinstance(item, gast.Starred) and isinstance(item.value, gast.Tuple)


def replace(node: Node, old: Node, new: Node) -> None:
    """Put `new` in the place of `old` somewhere below `node`."""
    for item in walk(node):
        for key in () if type(item) in SIMPLE else item._fields:
            part = getattr(item, key, None)
            if part is old:
                setattr(item, key, new)
                return
            if type(part) is list:
                for index, child in enumerate(part):
                    if child is old:
                        part[index] = new
                        return
