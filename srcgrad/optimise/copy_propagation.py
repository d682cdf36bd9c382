"""A second name for one value is replaced by the first, where neither changes in between."""

from __future__ import annotations

from bisect import bisect_right

import gast

from srcgrad.core.facts import Facts
from srcgrad.core.trees import COMPOUND, Block, Node, header, is_self_copy, loads, statements, stores, target, walk
from srcgrad.core.visitor import Uses, count
from srcgrad.derive.program import Program
from srcgrad.optimise.copy_elimination import is_only_read


def copies(program: Program, facts: Facts) -> Program:
    """Drop `u = v` for a temporary or an adjoint u that is bound once, and read v instead; and a loop of nothing else.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(w, n):\\n    for _ in range(n):\\n        w = w + 1.0\\n    return w * w"
    >>> print(explain_text(text, after="copies", wrt=("w",)).splitlines()[-2])
    w_bar = y_bar * 2.0 * w
    """
    uses = count(program.block)
    top = _block([*program.forward, None, *program.backward, program.result], facts, uses)
    split = top.index(None)
    program.forward, program.backward = top[:split], top[split + 1 : -1]
    emptied = any(isinstance(node, gast.For | gast.While) and not node.body for node in statements(program.backward))
    facts.left_over |= emptied
    return program


def _block(block: Block, facts: Facts, uses_of: Uses) -> Block:
    read, written = _places(block) if any(_may_be_copy(node, facts) for node in block) else ({}, {})
    gone: set[int] = set()
    for position, node in enumerate(block):
        if node is None:
            continue
        if isinstance(node, COMPOUND):
            node.body = _block(node.body, facts, uses_of)
            node.orelse = _block(node.orelse, facts, uses_of) if getattr(node, "orelse", None) else []
            continue
        if is_self_copy(node):
            gone.add(position)
            continue
        if not _is_copy(node, facts, uses_of.bound):
            continue
        made, source = node.targets[0].id, _copied_value(node, facts).id
        uses = read.get(made, [])
        elsewhere = len(uses) != uses_of.read.get(made, 0)
        if elsewhere or made in facts.seeds or any(place <= position for place, _ in uses):
            continue  # another block, or another trip, reads it
        last = max((place for place, _ in uses), default=position)
        if _bound_later(source, position, last, block, written, facts):
            read, written = _places(block)
            uses, last = read[made], last - 1
        if _is_rebound_between(source, position, last + isinstance(block[last], COMPOUND), written):
            continue
        if not isinstance(node.value, gast.Name) and not all(is_only_read(block[k], made, facts) for k, _ in uses):
            continue
        for place, name in uses:
            name.id = source
            read.setdefault(source, []).append((place, name))
        uses_of.read[source] = uses_of.read.get(source, 0) + len(uses) - 1
        read.pop(made, None)
        gone.add(position)
    return [node for position, node in enumerate(block) if position not in gone]


def _bound_later(name: str, start: int, last: int, block: Block, written: dict[str, list[int]], facts: Facts) -> bool:
    """Let a statement that binds a name come behind the last reader of its copy, if it can; whether it has moved."""
    places = [place for place in written.get(name, []) if start < place <= last]
    if len(places) != 1 or places[0] == last:
        return False
    node, behind = block[places[0]], block[places[0] + 1 : last + 1]
    if any(target(other) == name and other in facts.accumulates for other in block[last + 1 :]):
        return False  # a sum that is not put together yet
    if target(node) != name or facts.calls_hooks(node) or node in facts.restores or node in facts.pushes:
        return False
    reads = facts.names_and_bases(loads(node))
    for other in behind:
        if other is None or isinstance(other, COMPOUND) or getattr(other, "lineno", 0) != getattr(node, "lineno", 0):
            return False
        if name in loads(other) or reads & set(stores(other)) or facts.calls_hooks(other):
            return False
    block.insert(last, block.pop(places[0]))
    return True


def _places(block: Block) -> tuple[dict[str, list[tuple[int, Node]]], dict[str, list[int]]]:
    """Where each name is read (with the node) and bound, by position in the block."""
    read: dict[str, list[tuple[int, Node]]] = {}
    written: dict[str, list[int]] = {}
    for position, node in enumerate(block):
        if node is None:
            continue
        for inner in statements([node]) if isinstance(node, COMPOUND) else [node]:
            for name in stores(inner):
                written.setdefault(name, []).append(position)
            for part in header(inner):
                for item in walk(part):
                    if type(item) is gast.Name and type(item.ctx) is gast.Load:
                        read.setdefault(item.id, []).append((position, item))
    return read, written


def _may_be_copy(node: Node, facts: Facts) -> bool:
    """Whether a statement is an assignment of a name, or of what may stand for one."""
    return type(node) is gast.Assign and (
        type(node.value) is gast.Name or (facts.pushes_forward and type(node.value) is gast.Call)
    )


def _is_copy(node: Node, facts: Facts, bound: dict[str, int]) -> bool:
    made = target(node)
    if made is None or not isinstance(_copied_value(node, facts), gast.Name) or bound.get(made) != 1:
        return False
    if node in facts.pushes or node in facts.restores:
        return False
    if made in facts.temporaries:
        return True
    primal = facts.adjoint_of.get(made)
    return primal is not None and primal not in facts.wrt and made not in facts.elements


def _copied_value(node: Node, facts: Facts) -> Node:
    """The `v` of `u = v`, and of the tangent `u = np.array(v)`, which is an array of its own lest v changes."""
    value = node.value
    if not facts.pushes_forward or not isinstance(value, gast.Call) or len(value.args) != 1 or value.keywords:
        return value
    primal = facts.adjoint_of.get(str(target(node)))
    array = isinstance(value.func, gast.Attribute) and value.func.attr == "array"
    shown = facts.adjoint_of.get(getattr(value.args[0], "id", "")) in facts.mutable  # and not a view of one
    kept = primal is None or primal in facts.mutable or primal in facts.added_to or primal in facts.elements
    return value.args[0] if array and shown and not kept else value


def _is_rebound_between(name: str, start: int, end: int, written: dict[str, list[int]]) -> bool:
    """Whether a name is bound between two places; the statement at the end reads it before it binds anything."""
    places = written.get(name, [])
    after = bisect_right(places, start)
    return after < len(places) and places[after] < end
