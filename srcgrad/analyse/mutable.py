"""Arrays that the function writes into: whose they are, and who else sees them.

A write is followed where the array is the function's own and every view of it is read before the array changes
again. Views that live on under a name of the user's are made copies; those inside of an expression are read again.
"""

from __future__ import annotations

from collections.abc import Iterable

import gast
import numpy as np

from srcgrad.analyse.alias import VIEWS, is_fresh
from srcgrad.facts import Facts, Operation
from srcgrad.flow import Graph, graph, solve_forward
from srcgrad.front.webs import parameters
from srcgrad.rules import rule_of
from srcgrad.runtime import add
from srcgrad.trees import (
    Node,
    assign,
    at,
    expression,
    is_write,
    name,
    statement,
    statements,
    stores,
    target,
    walk,
    written,
)


def mutable(function: Node, facts: Facts) -> Node:
    """Refuse writes into arrays that may be someone else's, and reads of views that have gone stale."""
    order = list(statements(function.body))
    arrays = dict.fromkeys(a for node in order if is_write(node) for a in written(node))
    facts.mutable.update(arrays)
    if not arrays:
        return function
    views = _views(order, arrays, facts)
    facts.viewed.update(dict.fromkeys(v for v in views if v in facts.temporaries))
    for array in arrays:
        if facts.generated:  # our text writes into what it owns
            _check_container(array, order, facts)
        else:
            _check_origin(array, order, function, facts)
    flow = graph(function.body)
    _check_stale(flow, views, facts)
    _check_rows(order, views, arrays, facts)
    for node in order:
        _settle(node, flow, views, arrays, facts)
    _detach(function.body, flow, views, facts)
    if not facts.generated:
        _check_floating(function.body, arrays, facts)
    return function


def _check_origin(array: str, order: list[Node], function: Node, facts: Facts) -> None:
    """Every array that the name may hold must have been made here."""
    first = next(n for n in order if is_write(n) and array in written(n))
    user = facts.base.get(array, array)
    if array in parameters(function):
        raise facts.refuse(
            first,
            "E5010",
            f"`{user}` is an argument, which the caller holds",
            f"write into a copy: `{user} = {user}.copy()` at the start of the function",
        )
    for node in order:
        if array not in stores(node) or is_write(node) or _makes_array(node, facts):
            continue
        where = getattr(node, "lineno", 0)
        raise facts.refuse(
            first,
            "E5010",
            f"`{user}` is written into, and line {where} may bind it to what something else holds, or to no array",
            f"make it an array of its own in line {where}: `np.array(...)`, `np.zeros(...)` or `.copy()`",
        )


def _check_floating(block: list[Node], arrays: Iterable[str], facts: Facts) -> None:
    """Where an array that gets active values may hold integers, look when it is made."""
    for position in range(len(block) - 1, -1, -1):
        node = block[position]
        for field in ("body", "orelse"):
            if getattr(node, field, None):
                _check_floating(getattr(node, field), arrays, facts)
        bound = target(node)
        if bound in arrays and bound in facts.active and not _is_floating(node.value, facts):
            check = statement(f"{facts.library('check_floating')}(a)", a=name(bound))
            facts.effects[check] = None
            block.insert(position + 1, at(check, node))


def _is_floating(value: Node, facts: Facts) -> bool:
    """Whether a new array is known to hold floats: made of an active one, or by zeros, ones, empty without a dtype."""
    if any(isinstance(n, gast.Name) and n.id in facts.active for n in walk(value)):
        return True
    if not (isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and len(value.args) == 1):
        return False
    return value.func.attr in ("zeros", "ones", "empty") and not value.keywords


def _check_container(array: str, order: list[Node], facts: Facts) -> None:
    """An adjoint of a container is added to part by part: its derivative is not made yet."""
    for node in order:
        if not (isinstance(node, gast.Assign) and is_write(node) and array in written(node)):
            continue
        made = facts.definition.get(getattr(node.value, "id", ""))
        operation = facts.operation.get(getattr(made, "value", node.value))
        if array in facts.containers or (operation is not None and operation.function is add):
            raise facts.refuse(
                node,
                "E5010",
                "a write into a container is not accepted",
                "compute the new value and bind it to a name",
            )


def _makes_array(node: Node, facts: Facts) -> bool:
    """Whether an assignment binds a new array."""
    value = getattr(node, "value", None)
    if target(node) is None or isinstance(value, gast.Constant) or facts.spec[node].scalar:
        return False
    if any(isinstance(item, gast.List | gast.Tuple) for item in walk(value)) and isinstance(value, gast.BinOp):
        return False  # [0.0] * n
    operation = facts.operation.get(value)
    if operation is not None and operation.function is np.array:
        return isinstance(value, gast.Call) and not any(word.arg == "copy" for word in value.keywords)
    if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr == "array":
        return not value.keywords
    return is_fresh(node, facts)


Views = dict[str, dict[str, None]]  # name -> the written arrays that it may be a view of


def _views(order: list[Node], arrays: Iterable[str], facts: Facts) -> Views:
    """Names that may share memory with a written array, through any number of steps."""
    views: Views = {array: {array: None} for array in arrays}
    changed = True
    while changed:
        changed = False
        for node in order:
            shared = {base: None for read in _shared(node, facts) for base in views.get(read, {})}
            for bound in stores(node) if shared and not is_write(node) else []:
                known = views.setdefault(bound, {})
                changed = changed or any(base not in known for base in shared)
                known.update(shared)
    return {view: bases for view, bases in views.items() if list(bases) != [view]}


def _shared(node: Node, facts: Facts) -> list[str]:
    """Names whose memory a statement may hand to what it binds."""
    if isinstance(node, gast.For):
        return [node.iter.id] if isinstance(node.iter, gast.Name) else []
    if not isinstance(node, gast.Assign) or is_write(node) or (node in facts.spec and facts.spec[node].scalar):
        return []
    value = node.value
    operation = facts.operation.get(value)
    if operation is None:
        return [] if _is_computed(value) else [n.id for n in walk(value) if isinstance(n, gast.Name)]
    if operation.kind == "op" and operation.function not in VIEWS:
        return []
    return [n.id for n in walk(value) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load)]


def _is_computed(value: Node) -> bool:
    """Whether an expression without an operation of its own gives a new value in any case."""
    if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute):
        return value.func.attr in ("zeros_like", "ones_like", "empty_like", "full_like", "zeros", "empty", "ones", "full")
    if isinstance(value, gast.Call):
        return getattr(value.func, "id", "") in ("len", "int", "float", "range")
    if isinstance(value, gast.Attribute):
        return value.attr in ("shape", "dtype", "size", "ndim")
    if isinstance(value, gast.Subscript) and isinstance(value.value, gast.Attribute):
        return value.value.attr == "shape"
    return isinstance(value, gast.BinOp | gast.UnaryOp | gast.Compare | gast.Constant | gast.BoolOp)


def _check_stale(flow: Graph, views: Views, facts: Facts) -> None:
    """Refuse to read a view after what it shows has been written into."""
    bits = {view: 1 << k for k, view in enumerate(views)}
    made, killed = [0] * len(flow.nodes), [0] * len(flow.nodes)
    for number, node in enumerate(flow.nodes):
        if node is None:
            continue
        for bound in flow.bound_at(number):
            if bound in bits and not is_write(node):
                killed[number] |= bits[bound]
        if is_write(node):
            changed = set(written(node))
            made[number] = sum(bits[view] for view, bases in views.items() if changed & set(bases))
    stale = solve_forward(flow, made, killed)
    for number, node in enumerate(flow.nodes):
        for read in flow.read_at(number) if stale[number] else []:
            if stale[number] & bits.get(read, 0):
                raise _stale(node, read, views[read], flow, facts)


def _stale(node: Node, read: str, bases: dict[str, None], flow: Graph, facts: Facts) -> Exception:
    base = next(iter(bases))
    lines = [n.lineno for n in flow.nodes if n is not None and is_write(n) and base in written(n)]
    seen = "a part of it" if read in facts.temporaries else f"`{facts.base.get(read, read)}`"
    array = facts.base.get(base, base)
    return facts.refuse(
        node,
        "E5010",
        f"{seen} may show the elements of `{array}` that line {lines[0]} has changed",
        f"copy what is needed before line {lines[0]}: `.copy()`, or read `{array}` itself",
    )


def _check_rows(order: list[Node], views: Views, arrays: Iterable[str], facts: Facts) -> None:
    """A loop over the rows of an array must not write into it."""
    for node in order:
        if not (isinstance(node, gast.For) and isinstance(node.iter, gast.Name)):
            continue
        bases = set(views.get(node.iter.id, {})) | ({node.iter.id} & set(arrays))
        for inner in statements(node.body):
            if is_write(inner) and bases & set(written(inner)):
                raise facts.refuse(
                    inner, "E5010", "a loop over the rows of an array writes into it", "loop over an index"
                )


def _settle(node: Node, flow: Graph, views: Views, arrays: Iterable[str], facts: Facts) -> None:
    """Containers and callees that hold an array while it changes are refused."""
    if not isinstance(node, gast.Assign) or is_write(node):
        return
    operation = facts.operation.get(node.value)
    callee = operation is not None and operation.kind != "op"
    if not callee and not isinstance(node.value, gast.Tuple | gast.List | gast.Dict):
        return
    read = [n.id for n in walk(node.value) if isinstance(n, gast.Name)]
    bases = {base for r in read for base in ([r] if r in arrays else views.get(r, {}))}
    for later in _written_after(flow, node, bases):
        raise facts.refuse(
            later,
            "E5010",
            f"`{facts.base.get(written(later)[0], written(later)[0])}` changes while line {node.lineno} has given it on",
            f"give a copy in line {node.lineno}: `.copy()`",
        )


def _written_after(flow: Graph, node: Node, bases: Iterable[str]) -> list[Node]:
    """Writes into one of some arrays that may be reached after a statement."""
    wanted = set(bases)
    seen: set[int] = set()
    todo = list(flow.successors[flow.index[node]])
    found = []
    while todo:
        number = todo.pop()
        if number in seen:
            continue
        seen.add(number)
        todo += flow.successors[number]
        after = flow.nodes[number]
        if after is not None and is_write(after) and wanted & set(written(after)):
            found.append(after)
    return found


def _detach(block: list[Node], flow: Graph, views: Views, facts: Facts) -> None:
    """`v = a[1:]`, where a is written into later, keeps a copy: v is never read once the two differ."""
    position = 0
    while position < len(block):
        node = block[position]
        for field in ("body", "orelse"):
            if getattr(node, field, None):
                _detach(getattr(node, field), flow, views, facts)
        bound = target(node)
        if bound in views and bound not in facts.viewed and _written_after(flow, node, views[bound]):
            held = facts.names.fresh(f"t{len(facts.temporaries) + 1}")
            facts.temporaries[held] = "t"
            facts.viewed[held] = None
            first = at(assign(held, node.value), node)
            read = name(held)
            copied = expression("x.copy()", x=read)
            facts.operation[copied] = Operation("op", np.copy, rule_of(np.copy), {"a": read})
            facts.spec[first] = facts.spec[read] = facts.spec[node]
            facts.value_spec[held] = facts.spec[node]
            for table in (facts.active, facts.varied):
                if bound in table:
                    table[held] = None
            facts.definition[held] = first
            facts.reads[held] = 1
            user = facts.origin.get(node, node)
            facts.origin[first] = user
            facts.rewritten[user] = None
            node.value = copied
            block.insert(position, first)
            position += 1
        position += 1
