"""Copies that nothing needs, second names for one value, and memory that an adjoint may have.

What nothing changes any more is not copied: an array that a trip has made is kept as it is, an adjoint goes on, and `t
= a[i].copy()` of what is only looked at while the array stays as it is is `t = a[i]`, or no name.

    lap_stack.append(lap.copy())            lap_stack.append(lap)
    u_bar = np.array(sum_to(u_bar, u))  =>  u_bar = sum_to(u_bar, u)

A second name for one value is replaced by the first, where neither changes in between. `a[i] += e` twice is `a[i] +=
2.0 * e`. A pullback may be called any number of times: what the backward half changes is its own copy.

A large intermediate array gives its memory to its adjoint, where that is its last use: `t_bar = e * t` becomes `t_bar =
t`, `t_bar *= e`. The adjoint has the primal's shape, so the product fits; so with `z_bar = e * t - g`, where all that
is read is known to be no larger than t. `if_larger(e, t, 0.0)` becomes `if_larger(e, t, 0.0, out=t)`, which looks at
shapes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any  # a name, and pairs of an operator and a tree

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.activity import branch_depths
from srcgrad.analysis.alias import is_fresh
from srcgrad.analysis.dtypes import is_elementwise
from srcgrad.analysis.shapes import broadcast_specs
from srcgrad.core.control_flow import liveness
from srcgrad.core.facts import Facts, function_called
from srcgrad.core.rules import FITTED, makes_new
from srcgrad.core.trees import (
    COMPOUND,
    NOTHING,
    Block,
    Node,
    assign,
    at,
    expression,
    find_nodes,
    header,
    holds,
    is_basic,
    is_self_copy,
    is_write,
    literal_node,
    loads,
    mentions,
    name,
    names_in,
    root,
    same_tree,
    statement,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.core.visitor import Uses, bindings, blocks, count, replace, rewrite_blocks
from srcgrad.derive.adjoints import is_fresh_value
from srcgrad.derive.in_place_writes import is_push
from srcgrad.derive.program import Program
from srcgrad.optimise.broadcasting import is_fitted


def successor_copies(program: Program, facts: Facts) -> Program:
    """Keep what the trip has made for itself, and let an adjoint that only arithmetic reads be its own successor."""
    if not facts.pushes_forward:
        returned = loads(program.result)
        for block in blocks(program.forward)[1:]:
            for position, node in enumerate(block):
                held = _kept_copy(node, facts)
                if held is not None and held not in returned and _is_own(held, block, position, program, facts):
                    node.value.args[0] = name(held)
        for node in statements(program.backward):
            held = target(node)
            successor = None if held is None else _successor(node, held, facts)
            if held is not None and successor is not None and _goes_on(held, program, facts):
                node.value = successor
    return program


def _kept_copy(node: Node, facts: Facts) -> str | None:
    """The h of `h_stack.append(h.copy())`."""
    call = node.value.args[0] if node in facts.tape.pushes and is_push(node) else None
    if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Attribute) or call.func.attr != "copy":
        return None
    return call.func.value.id if isinstance(call.func.value, gast.Name) else None


def _is_own(held: str, block: Block, position: int, program: Program, facts: Facts) -> bool:
    """Whether a block binds a name to a new array and writes into it before a place, and nothing else does."""
    begun = next((k for k, node in enumerate(block[:position]) if target(node) == held), None)
    if begun is None or held in facts.memory.swapped or not is_fresh(block[begun], facts):
        return False
    before = dict.fromkeys(statements(block[begun + 1 : position]))
    changes = [node for node in statements(program.forward) if held in stores(node) and node is not block[begun]]
    changes += [node for node in statements(program.backward) if held in written_names(node)]
    return all(held in written_names(node) and node in before for node in changes)


def _successor(node: Node, held: str, facts: Facts) -> Node | None:
    """The `sum_to(u, x)` of `u = np.array(sum_to(u, x))`, or u itself."""
    value = node.value if isinstance(node, gast.Assign) else None
    if value is None or function_called(value, facts) is not np.array:
        return None
    inner = value.args[0] if len(value.args) == 1 and not value.keywords else value
    summed = function_called(inner, facts) is runtime.sum_to
    return inner if getattr(inner.args[0] if summed else inner, "id", "") == held else None


def _goes_on(held: str, program: Program, facts: Facts) -> bool:
    """Whether an adjoint is an array of its own, with axes, which no other name may hold."""
    axes = False
    for node in statements(program.backward):
        if _may_share(node, held) and _successor(node, held, facts) is None:
            return False
        if held in stores(node) and held not in written_names(node) and not _is_owned(node, held, facts):
            return False
        parts = [n for n in find_nodes(node, gast.Subscript) if getattr(n.value, "id", "") == held]
        axes = axes or any(holds(part.slice, gast.Slice) for part in parts)
    return axes and held not in facts.names.seeds


def _is_owned(node: Node, held: str, facts: Facts) -> bool:
    """Whether a statement binds an adjoint to a new array, to a sum with it, or to its own successor."""
    if node in facts.tape.zeros or node in facts.tape.accumulates or _successor(node, held, facts) is not None:
        return True
    return target(node) == held and isinstance(node, gast.Assign) and is_fresh_value(node.value, facts)


def _may_share(node: Node, held: str) -> bool:
    """Whether a statement, or an expression, may give the array of a name to another one: arithmetic does not."""
    if isinstance(node, gast.Name):
        return bool(node.id == held)
    if isinstance(node, gast.Assign | gast.Expr | gast.Subscript):
        return _may_share(node.value, held)
    if isinstance(node, gast.Call):
        return any(_may_share(part, held) for part in (node.func, *node.args, *(word.value for word in node.keywords)))
    if isinstance(node, gast.For):
        return held in stores(node) or _may_share(node.iter, held)
    arithmetic = isinstance(node, gast.BinOp | gast.UnaryOp | gast.Constant | gast.AugAssign)
    return not arithmetic and held in loads(node)


def copy_elimination(program: Program, facts: Facts) -> Program:
    """Look at parts where they stand, in the backward half."""
    bound = bindings(program.block)
    program.backward = rewrite_blocks(program.backward, lambda block: _block(block, bound, facts))
    for node in statements(program.backward):
        for part in header(node):
            _operands(part, facts)
        if target(node) in facts.names.adjoint_of and function_called(node.value, facts) is np.array:
            call: Node = node.value
            if len(call.args) == 1 and not call.keywords and is_fresh_value(call.args[0], facts):
                node.value = call.args[0]
        if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Subscript):
            node.value = _looked_at(node.value, facts, stores(node))
    return program


def _block(block: Block, bound: dict[str, int], facts: Facts) -> Block:
    made: Block = []
    for node in block:
        if made and not isinstance(node, COMPOUND) and _is_repeated(made[-1], node):
            made[-1].value = _double(node.value)
        else:
            made.append(node)
    gone = {id(node) for position, node in enumerate(made) if _seen_through(made, position, bound, facts)}
    return [node for node in made if id(node) not in gone]


def _is_repeated(one: Node, two: Node) -> bool:
    """Whether two statements add the same to the same part, of an array that they do not read."""
    if not isinstance(one, gast.AugAssign) or not isinstance(two, gast.AugAssign):
        return False
    if not isinstance(one.op, gast.Add | gast.Sub) or type(one.op) is not type(two.op) or not stores(one):
        return False
    if not isinstance(two.value, gast.BinOp | gast.Name) or holds(two, gast.Call):
        return False
    return (
        same_tree(one.target, two.target) and same_tree(one.value, two.value) and stores(one)[0] not in loads(one.value)
    )


def _double(value: Node) -> Node:
    """`2.0 * a * b` for twice `a * b`: exact, and numbers are multiplied first."""
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult | gast.Div):
        return gast.BinOp(_double(value.left), value.op, value.right)
    return gast.BinOp(literal_node(2.0), gast.Mult(), value)


def _copied_part(value: Node, facts: Facts) -> Node | None:
    """The `a[i]` of `a[i].copy()`, for integers and slices; None for any other expression."""
    if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr == "copy":
        part = value.func.value
        if isinstance(part, gast.Subscript) and isinstance(part.value, gast.Name) and not value.args:
            return part if is_basic(part.slice, frozenset(facts.values.integers)) else None
    return None


def _looked_at(value: Node, facts: Facts, changed: Sequence[str] = ()) -> Node:
    """`a[i]` for `a[i].copy()`, `sum_to(a[i], x)` for `sum_to(a[i].copy(), x)`, if a is none of what changes."""
    fitted = is_fitted(value, facts)
    part = _copied_part(value.args[0] if fitted else value, facts)
    if part is None or part.value.id in changed:
        return value
    return gast.Call(value.func, [part, *value.args[1:]], []) if fitted else part


def _operands(node: Node, facts: Facts) -> None:
    """Arithmetic makes a new array: its operands need no copy."""
    for item in walk(node):
        if isinstance(item, gast.BinOp):
            item.left, item.right = _looked_at(item.left, facts), _looked_at(item.right, facts)
        elif isinstance(item, gast.UnaryOp):
            item.operand = _looked_at(item.operand, facts)
        elif _makes_new(item, facts):
            item.args = [_looked_at(argument, facts) for argument in item.args]


def _makes_new(call: Node, facts: Facts) -> bool:
    return isinstance(call, gast.Call) and makes_new(function_called(call, facts), call)


def _seen_through(block: Block, position: int, bound: dict[str, int], facts: Facts) -> bool:
    """Read a part where its copy was read; whether the copy's statement is not needed any more."""
    node = block[position]
    held = target(node)
    part = None if held is None else _looked_at(node.value, facts)
    if (
        held is None
        or part is None
        or part is node.value
        or bound.get(held) != 1
        or facts.names.adjoint_of.get(held) in facts.request.wrt
    ):
        return False
    users = [k for k in range(position + 1, len(block)) if mentions(block[k], held)]
    if not users or not _lasts(block, position, users[-1], part, facts):
        return False
    reads = [n for k in users for n in find_nodes(block[k], gast.Name) if n.id == held]
    if not all(is_only_read(block[k], held, facts, loads(part)) for k in users):
        return False
    if len(reads) > 1 or isinstance(block[users[0]], COMPOUND) or not isinstance(part, gast.Subscript):
        node.value = part
        shown: Node = part.args[0] if isinstance(part, gast.Call) else part
        facts.memory.views[held] = shown.value.id
        return False
    replace(block[users[0]], reads[0], part)
    return True


def _lasts(block: Block, start: int, end: int, part: Node, facts: Facts) -> bool:
    """Whether no statement before the last reader, nor inside it if it holds others, changes what the part reads."""
    base = root(part)
    read = facts.names_and_bases([*loads(part), *([base.id] if base is not None else [])])
    until = end + 1 if isinstance(block[end], COMPOUND) else end
    return not any(read & set(stores(inner)) for inner in statements(block[start + 1 : until]))


def is_only_read(node: Node, name: str, facts: Facts, shown: Sequence[str] = ()) -> bool:
    """Whether each mention of a name is an operand of arithmetic, or of a call that makes a new array.

    Or it is what is added to a part of an array, other than those that it would show.
    """
    if isinstance(node, COMPOUND):
        inner = [*header(node)] if not isinstance(node, gast.For) else [node.iter]
        blocks = [*node.body, *(getattr(node, "orelse", None) or [])]
        apart = not any(mentions(part, name) for part in inner)
        return apart and all(is_only_read(n, name, facts, shown) for n in blocks)
    allowed = 0
    for item in walk(node):
        operands: list[Node] = []
        if isinstance(item, gast.BinOp):
            operands = [item.left, item.right]
        elif isinstance(item, gast.UnaryOp):
            operands = [item.operand]
        elif _makes_new(item, facts):
            operands = item.args
        elif isinstance(item, gast.AugAssign) and shown and not {*shown} & {*stores(item)}:
            operands = [item.value]
        allowed += sum(isinstance(part, gast.Name) and part.id == name for part in operands)
    met = [n for n in find_nodes(node, gast.Name) if n.id == name]
    return allowed == len(met)


def names_sharing_arrays(program: Program, facts: Facts) -> dict[str, None]:
    """Names that may hold the array of another one, which is read elsewhere: nothing is added to them in place.

    x_bar = sum_to(t / w, x)                           t1 = t / w
    x_bar += e, whose derivative reads t / w    =>     x_bar = sum_to(t1, x)
                                                       x_bar = x_bar + e
    """
    if not facts.request.generated or not facts.origin.augmented:
        return {}
    order = [node for node in statements(program.block) if isinstance(node, gast.AST)]
    reads = Counter(one for node in order for one in loads(node))
    reads.update(one for node in facts.tape.fresh_copies for one in loads(node))
    held = {node: _array_handed_on(node, facts) for node in statements(program.forward)}
    return {str(target(node)): None for node, one in held.items() if one and one != target(node) and reads[one] > 1}


def _array_handed_on(node: Node, facts: Facts) -> str:
    """The name whose array a statement may bind to another: `x_bar = sum_to(t, x)`, `x_bar = t`."""
    value = node.value if isinstance(node, gast.Assign) and target(node) is not None else None
    if isinstance(value, gast.Call) and value.args:
        known = facts.namespace.lookup(getattr(value.func, "id", ""))
        value = value.args[0] if known is not None and known.object in FITTED else None
    return value.id if isinstance(value, gast.Name) else ""


def copy_propagation(program: Program, facts: Facts) -> Program:
    """Drop `u = v` for a temporary or an adjoint u that is bound once, and read v instead; and a loop of nothing else.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(w, n):\\n    for _ in range(n):\\n        w = w + 1.0\\n    return w * w"
    >>> print(explain_text(text, after="copy_propagation", wrt=("w",)).splitlines()[-2])
    w_bar = y_bar * 2.0 * w
    """
    uses = count(program.block)
    top = _block_with_first_names([*program.forward, NOTHING, *program.backward, program.result], facts, uses)
    split = top.index(NOTHING)
    program.forward, program.backward = top[:split], top[split + 1 : -1]
    emptied = any(isinstance(node, gast.For | gast.While) and not node.body for node in statements(program.backward))
    facts.activity.left_over |= emptied
    return program


def _block_with_first_names(block: Block, facts: Facts, uses_of: Uses) -> Block:
    read, written = _places(block) if any(_may_be_copy(node, facts) for node in block) else ({}, {})
    gone: set[int] = set()
    for position, node in enumerate(block):
        if node is None:
            continue
        if isinstance(node, COMPOUND):
            node.body = _block_with_first_names(node.body, facts, uses_of)
            node.orelse = _block_with_first_names(node.orelse, facts, uses_of) if getattr(node, "orelse", None) else []
            continue
        if is_self_copy(node):
            gone.add(position)
            continue
        if not _is_copy(node, facts, uses_of.bound):
            continue
        made, source = node.targets[0].id, _copied_value(node, facts).id
        uses = read.get(made, [])
        elsewhere = len(uses) != uses_of.read.get(made, 0)
        if elsewhere or made in facts.names.seeds or any(place <= position for place, _ in uses):
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
    if any(target(other) == name and other in facts.tape.accumulates for other in block[last + 1 :]):
        return False  # a sum that is not put together yet
    if target(node) != name or facts.calls_hooks(node) or node in facts.tape.restores or node in facts.tape.pushes:
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
                for item in find_nodes(part, gast.Name):
                    if type(item.ctx) is gast.Load:
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
    if node in facts.tape.pushes or node in facts.tape.restores:
        return False
    if made in facts.names.temporaries:
        return True
    primal = facts.names.adjoint_of.get(made)
    return primal is not None and primal not in facts.request.wrt and made not in facts.memory.elements


def _copied_value(node: Node, facts: Facts) -> Node:
    """The `v` of `u = v`, and of the tangent `u = np.array(v)`, which is an array of its own lest v changes."""
    value: Node = node.value
    if not facts.pushes_forward or not isinstance(value, gast.Call) or len(value.args) != 1 or value.keywords:
        return value
    primal = facts.names.adjoint_of.get(str(target(node)))
    array = isinstance(value.func, gast.Attribute) and value.func.attr == "array"
    shown = (
        facts.names.adjoint_of.get(getattr(value.args[0], "id", "")) in facts.memory.mutable
    )  # and not a view of one
    kept = (
        primal is None
        or primal in facts.memory.mutable
        or primal in facts.memory.added_to
        or primal in facts.memory.elements
    )
    return value.args[0] if array and shown and not kept else value


def _is_rebound_between(name: str, start: int, end: int, written: dict[str, list[int]]) -> bool:
    """Whether a name is bound between two places; the statement at the end reads it before it binds anything."""
    places = written.get(name, [])
    after = bisect_right(places, start)
    return after < len(places) and places[after] < end


def close_pullback(program: Program, facts: Facts) -> Program:
    """In mode vjp, give the backward half fresh names for the stacks it pops and the values it restores."""
    if facts.request.mode != "vjp":
        return program
    _own_arrays(program.backward, facts)
    bound = {s for n in statements(program.backward) for s in stores(n)}
    flow = liveness([*program.backward, program.result])
    alive = flow.before[0] if flow.before else 0
    stacks = [s for s in dict.fromkeys(facts.tape.pushes.values()) if _mentions_name(program.backward, s)]
    kept = {s for n in statements(program.forward) for s in stores(n)} | set(program.parameters)
    alive_here = [n for n, bit in flow.bits.items() if bit & alive and n in kept]
    changed = [n for n in alive_here if n in bound and n not in stacks]
    renamed: dict[str, str] = {}
    copies: list[tuple[str, Node]] = []
    for name in changed:
        if name not in facts.names.seeds:
            renamed[name] = facts.names.numbered_name(facts.names.base.get(name, name))
            changes = name in facts.memory.mutable or facts.list_kind(name)
            own = f"{name}.copy()" if changes else name  # its elements will change
            if _bind_early(program.forward, name, program.parameters) and changes:
                own = f"None if {name} is None else {own}"
            copies.append((name, statement(f"{renamed[name]} = {own}")))
    for name in stacks:
        if name not in renamed and _is_popped(program.backward, name):
            renamed[name] = facts.names.numbered_name(name)
            early = facts.calls.snapshots.get(name) is not None and _bind_early(
                program.forward, name, program.parameters
            )
            own = f"None if {name} is None else {name}.copy()" if early else f"{name}.copy()"
            copies.append((name, statement(f"{renamed[name]} = {own}")))
    for node in [*program.backward, program.result.value.elts[1]]:
        for item in walk(node):
            if isinstance(item, gast.Name) and item.id in renamed:
                item.id = renamed[item.id]
    for name, made in copies:
        if not _place(program.backward, renamed[name], made):
            facts.tape.fresh_copies.append(_where_bound(name, made, program))
    return program


def _where_bound(name: str, made: Node, program: Program) -> Node:
    """The copy of a name that some branch binds, made before all branches: None where the name has no value."""
    block = [] if name in program.parameters else program.forward
    for position, node in enumerate(block):
        bound = any(name in stores(inner) for inner in statements([node]))
        if bound and isinstance(node, gast.If) and branch_depths([node])[name]:
            block.insert(position, statement(f"{name} = None"))
            copy = f"None if {name} is None else value" if isinstance(made.value, gast.Call) else "value"
            return statement(f"{made.targets[0].id} = {copy}", value=made.value)
        if bound:
            break
    return made


def _own_arrays(block: Block, facts: Facts) -> None:
    """An array that comes back from a record, and into which the backward half writes, comes back as a copy."""
    changed = {
        other for n in statements(block) for s in written_names(n) for other in facts.memory.swapped.get(s, {s: None})
    }
    for node in statements(block):
        if node in facts.tape.restores and target(node) in changed and not is_write(node):
            node.value = expression("kept.copy()", kept=node.value)


def _bind_early(block: Block, name: str, parameters: list[str]) -> bool:
    """`h = None` before the loop that binds a name, since the pullback takes it even if the loop makes no trip."""
    if name in parameters:
        return False
    for position, node in enumerate(block):
        if any(name in stores(inner) for inner in statements([node])):
            if any(isinstance(inner, gast.For | gast.While) for inner in statements([node])):
                block.insert(position, statement(f"{name} = None"))
                return True
            return False
    return False


def _place(block: Block, name: str, made: Node) -> bool:
    """Whether the copy has its place in a branch: a name that matters in one branch only is copied in that branch."""
    here = block
    while True:
        touching = [node for node in here if _mentions_name([node], name)]
        sides = [s for s in ("body", "orelse") if touching and getattr(touching[0], s, None)]
        sides = [s for s in sides if _mentions_name(getattr(touching[0], s), name)]
        tested = touching and isinstance(touching[0], gast.If) and _mentions_name([touching[0].test], name)
        if len(touching) != 1 or not isinstance(touching[0], gast.If) or len(sides) != 1 or tested:
            break
        here = getattr(touching[0], sides[0])
    if here is not block:
        here.insert(0, made)
    return here is not block


def _mentions_name(block: Block, name: str) -> bool:
    return any(isinstance(i, gast.Name) and i.id == name for n in block for i in walk(n))


def _is_popped(block: Block, name: str) -> bool:
    return any(
        isinstance(item, gast.Attribute)
        and item.attr in ("pop", "backwards")
        and isinstance(item.value, gast.Name)
        and item.value.id == name
        for node in block
        for item in walk(node)
    )


def buffer_reuse(program: Program, facts: Facts) -> Program:
    """Let adjoints of large intermediates overwrite them; a pullback, which may run again, keeps what it reads."""
    if facts.request.mode not in ("reverse", "value-and-grad") or facts.request.called or facts.module.inline:
        return program
    values = _Values(program, facts)
    made: Block = []
    for position, node in enumerate(program.backward):
        later = [*program.backward[position + 1 :], program.result]
        selected = _buffer_of_selection(node, facts)
        if selected and _is_array(selected, node, program, facts) and not any(mentions(n, selected) for n in later):
            node.value.keywords.append(gast.keyword("out", name(selected)))
        held, *steps = _buffer_of_scaling(node, facts) or _buffer_of_combination(node, facts)
        own = bool(held) and _is_large(held, program, facts, values, len(steps) > 1)
        bound = str(target(node))
        overwritten = any(mentions(value, bound) for _, value in steps)  # `t_bar = t_bar * h`, by the time it is read
        if not own or overwritten or any(mentions(n, held) for n in later):
            made.append(node)
            continue
        made.append(at(assign(bound, name(held)), node))
        made += [at(gast.AugAssign(name(bound, gast.Store()), op, value), node) for op, value in steps]
    program.backward = made
    return program


def _buffer_of_selection(node: Node, facts: Facts) -> str:
    """The t of `t_bar = if_larger(e, t, y)`, of two axes or more, in a text for NumPy; an empty string otherwise."""
    value = node.value if isinstance(node, gast.Assign) else None
    if value is None or not facts.module.target.as_written or function_called(value, facts) is not runtime.if_larger:
        return ""
    primal = facts.names.adjoint_of.get(str(target(node)), "")
    spec = facts.values.value_spec.get(primal)
    if spec is None or (spec.ndim or 0) < 2:
        return ""
    seed, *compared = value.args
    one, other = compared if getattr(compared[0], "id", "") == primal else compared[::-1]
    alone = getattr(one, "id", "") == primal and not mentions(other, primal)
    return primal if alone and _only_read(seed, primal, facts) else ""


def _is_array(held: str, reader: Node, program: Program, facts: Facts) -> bool:
    """Whether a name is bound once to an array that is computed there, and of which nothing shows a part."""
    if (
        held in facts.memory.mutable
        or held in facts.memory.viewed
        or held in facts.memory.swapped
        or held in facts.activity.rebound
    ):
        return False
    bound = [n for n in statements(program.block) if held in stores(n)]
    if len(bound) != 1 or bound[0] not in program.forward or not isinstance(bound[0].value, gast.BinOp):
        return False
    others = [n for n in statements(program.block) if n is not bound[0] and n is not reader]
    return all(_only_read(part, held, facts) for n in others for part in header(n))


def _buffer_of_scaling(node: Node, facts: Facts) -> tuple[Any, ...]:
    """The primal t of `t_bar = e * t`, and what is done to it; nothing for any other statement."""
    value = node.value if isinstance(node, gast.Assign) else None
    primal = facts.names.adjoint_of.get(str(target(node)), "")
    return _name_and_factor(value, primal) if value is not None and primal else ()


def _name_and_factor(value: Node, held: str) -> tuple[Any, ...]:
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult):
        for one, other in ((value.right, value.left), (value.left, value.right)):
            if isinstance(one, gast.Name) and one.id in (held, held or one.id) and not mentions(other, one.id):
                return one.id, (value.op, other)
    return ()


def _buffer_of_combination(node: Node, facts: Facts) -> tuple[Any, ...]:
    """The t of `z_bar = e * t - g`, of two axes or more, where nothing else is as large, and what is done to it."""
    value = node.value if isinstance(node, gast.Assign) else None
    if not facts.module.target.as_written or facts.names.adjoint_of.get(str(target(node))) is None:
        return ("",)
    if not isinstance(value, gast.BinOp) or not isinstance(value.op, gast.Add | gast.Sub):
        return ("",)
    found = _name_and_factor(value.left, "")
    if not found or mentions(value.right, found[0]) or not _fits(value, found[0], facts):
        return ("",)
    return *found, (value.op, value.right)


def _fits(value: Node, held: str, facts: Facts) -> bool:
    """Whether nothing that an expression reads is larger than the array of a name, or of another kind of number."""
    spec = facts.values.value_spec.get(held)
    if spec is None or spec.ndim is None or spec.ndim < 2:
        return False
    wide = {one for found in facts.tape.accumulators.values() for one in found}
    for read in names_in(value) - {
        *facts.names.imports.values(),
        *facts.names.seeds,
    }:
        primal = facts.names.adjoint_of.get(read, read)
        known = facts.values.value_spec.get(primal)
        if known is None or primal in wide or primal in facts.values.complex or "float16" in known.dtype:
            return False
        if broadcast_specs(spec, known).shape != spec.shape:
            return False
    return True


def _is_large(held: str, program: Program, facts: Facts, values: _Values, fits: bool) -> bool:
    """Whether a name holds floats in a large array of its own, of which nothing shows a part."""
    if (
        held in facts.memory.mutable
        or held in facts.memory.viewed
        or held in facts.memory.swapped
        or held in facts.activity.rebound
    ):
        return False
    bound = values.bound.get(held, [])
    if len(bound) != 1 or bound[0] not in program.forward or not isinstance(bound[0], gast.Assign):
        return False
    value = bound[0].value
    if not (isinstance(value, gast.BinOp) or (fits and isinstance(value, gast.Call) and is_elementwise(value, facts))):
        return False
    if not (fits or held in values.grown) or not values.is_float(value):
        return False
    return all(
        _only_read(part, held, facts) for n in statements(program.block) for part in header(n) if n is not bound[0]
    )


class _Values:
    """What is known of the names of a forward half; each question about a name is answered once."""

    def __init__(self, program: Program, facts: Facts) -> None:
        self.facts = facts
        self.of: dict[str, list[Node]] = {}
        self.bound: dict[str, Block] = {}
        for node in statements(program.block):
            for one in dict.fromkeys(stores(node)):
                self.bound.setdefault(one, []).append(node)
        for node in statements(program.forward):
            if (bound := target(node)) is not None:
                self.of.setdefault(bound, []).append(node.value)

    @cached_property
    def grown(self) -> set[str]:
        """Names that are computed with a new axis: `x[:, None] - y`, and what is computed of that by arithmetic."""
        found = {one for one, values in self.of.items() if any(map(_has_new_axis, values))}
        readers: dict[str, list[str]] = {}
        for one, values in self.of.items():
            for read in [read for value in values if isinstance(value, gast.BinOp) for read in loads(value)]:
                readers.setdefault(read, []).append(one)
        pending = list(found)
        while pending:
            for one in readers.get(pending.pop(), []):
                if one not in found:
                    found.add(one)
                    pending.append(one)
        return found

    @cached_property
    def floats(self) -> set[str]:
        """Names all values of which are floats."""
        found: set[str] = set()
        before = -1
        while len(found) > before:
            before = len(found)
            found.update(one for one, values in self.of.items() if all(self._is_float(v, found) for v in values))
        return found

    def is_float(self, value: Node) -> bool:
        """Whether an expression gives floats, whatever its operands are."""
        return self._is_float(value, self.floats)

    def _is_float(self, value: Node, floats: set[str]) -> bool:
        if isinstance(value, gast.Constant):
            return isinstance(value.value, float)
        if isinstance(value, gast.BinOp):
            sides = (value.left, value.right)
            return isinstance(value.op, gast.Div) or any(self._is_float(side, floats) for side in sides)
        if isinstance(value, gast.UnaryOp):
            return self._is_float(value.operand, floats)
        if isinstance(value, gast.Name):
            return value.id in floats
        return _gives_floats(function_called(value, self.facts))


def _has_new_axis(value: Node) -> bool:
    parts = [item.slice for item in find_nodes(value, gast.Subscript)]
    return any(isinstance(n, gast.Constant) and n.value is None for part in parts for n in walk(part))


def _only_read(node: Node, one: str, facts: Facts) -> bool:
    """Whether a name stands only where its elements are read: in arithmetic, in a reduction, as a model of a shape."""
    if isinstance(node, gast.Name):
        return bool(node.id != one)
    if isinstance(node, COMPOUND):
        return not any(mentions(part, one) for part in header(node))
    parts = [p for p in gast.iter_child_nodes(node) if not isinstance(p, gast.expr_context)]
    if isinstance(node, gast.BinOp) or (isinstance(node, gast.Call) and _reads(node, facts)):
        parts = [p for p in parts if not (isinstance(p, gast.Name) and p.id == one)]
    return all(_only_read(p, one, facts) for p in parts)


def _reads(call: Node, facts: Facts) -> bool:
    """Whether a call of a library gives a value of its own, or one that shows no elements."""
    function = function_called(call, facts)
    return isinstance(call.func, gast.Attribute) and makes_new(function, call)


def _gives_floats(function: object) -> bool:
    """Whether a function of NumPy gives floats for integers too."""
    made = [form.partition("->")[2] for form in function.types] if isinstance(function, np.ufunc) else []
    return bool(made) and not any(np.dtype(one).kind in "biu" for one in made)
