"""Views and holders: who else shows an array that changes, and whether it is read once it is stale.

Who else shows the elements of an array that is written into, and whether that is read once it is stale.

Lists and dicts that change while something else holds them, and arrays that change while a list holds them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import gast

from srcgrad.analysis.alias import (
    check_numbers,
    is_computed,
    is_fresh,
    is_gathered,
    is_new_of_step,
    is_passive_result,
    is_view,
    may_be_number,
)
from srcgrad.core.control_flow import Graph, solve_forward
from srcgrad.core.expressions import is_swap
from srcgrad.core.facts import Facts
from srcgrad.core.trees import Block, Node, is_write, loads, statements, stores, target, walk, written_names

Views = dict[str, dict[str, None]]  # name -> the written arrays that it may be a view of


def views_of(order: list[Node], arrays: Iterable[str], facts: Facts) -> Views:
    """Names that may share memory with a written array, through any number of steps."""
    views: Views = {array: {array: None} for array in arrays}
    changed = True
    while changed:
        changed = False
        for node in order:
            found = {base: None for read in names_sharing_memory(node, facts) for base in views.get(read, {})}
            for bound in stores(node) if found and not is_write(node) else []:
                known = views.setdefault(bound, {})
                changed = changed or any(base not in known for base in found)
                known.update(found)
    return {view: bases for view, bases in views.items() if list(bases) != [view]}


def names_sharing_memory(node: Node, facts: Facts) -> list[str]:
    """Names whose memory a statement may hand to what it binds."""
    if is_swap(node) and node.value.elts[0].id in facts.swapped:
        return []  # the arrays stay apart
    if isinstance(node, gast.For):
        return [node.iter.id] if isinstance(node.iter, gast.Name) else []
    if not isinstance(node, gast.Assign) or is_write(node):
        return []
    value = node.value
    if node in facts.spec and facts.spec[node].scalar and not isinstance(value, gast.Name):
        return []  # a number; a second name of what is written into stands for it, axes or not
    operation = facts.operation.get(value)
    if is_gathered(value, facts):
        return []
    if operation is None:
        return [] if is_computed(value) or is_passive_result(value, facts) else _names_of_values(value)
    if operation.kind == "op" and not is_view(operation, facts):
        return []
    if operation.kind == "callee" and facts.module.returns_new(operation.function):
        return []
    if operation.rule is not None and operation.rule.result == "argument":
        value = next(iter(operation.bound.values()))
    return [n.id for n in walk(value) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load)]


def containers_of_arrays(order: list[Node], arrays: dict[str, None], facts: Facts) -> dict[str, None]:
    """Lists, tuples and dicts that may hold one of some arrays, and names of what is taken out of them.

    What the backward half puts back into such an array shows in them.
    """
    found: dict[str, None] = {}
    before = -1
    while before < len(found):
        before = len(found)
        for node in order:
            bound = stores(node)
            container = any(facts.list_kind(one) or one in facts.containers for one in bound)
            given = loads(node) if container else names_sharing_memory(node, facts)
            if any(one in found or (container and one in arrays) for one in given):
                found.update(dict.fromkeys(one for one in bound if one not in arrays))
    return found


def _names_of_values(value: Node) -> list[str]:
    """The names in an expression, but for those of which it takes a length or a shape: `rng.normal(size=len(x))`."""
    if isinstance(value, gast.Name):
        return [value.id]
    if isinstance(value, gast.Call | gast.Attribute) and is_computed(value):
        return []
    return [one for part in gast.iter_child_nodes(value) for one in _names_of_values(part)]


def check_stale(flow: Graph, views: Views, body: Block, facts: Facts) -> None:
    """Refuse to read a view after what it shows has been written into; what may be a number is looked at."""
    bits = {view: 1 << k for k, view in enumerate(views)}
    shown = _shown_arrays(flow, views, facts)
    made, killed = [0] * len(flow.nodes), [0] * len(flow.nodes)
    for number, node in enumerate(flow.nodes):
        if node is None:
            continue
        for bound in flow.bound_at(number):
            if bound in bits and not is_write(node):
                killed[number] |= bits[bound]
        if is_write(node) or (is_swap(node) and stores(node)[0] in facts.swapped):
            changed = {name for w in stores(node) for name in facts.swapped.get(w, {w: None})}
            made[number] = sum(bits[v] for v, bases in views.items() if changed & bases.keys() & shown(number, v))
    stale = solve_forward(flow, made, killed)
    for number, node in enumerate(flow.nodes):
        for read in flow.read_at(number) if stale[number] else []:
            if stale[number] & bits.get(read, 0) and not is_checked(read, body, facts):
                raise _stale(node, read, views[read], flow, facts)


def _shown_arrays(flow: Graph, views: Views, facts: Facts) -> Callable[[int, str], set[str]]:
    """Of which arrays, as they are at a node, a view may show elements: it does not of one that was made since."""
    pairs = {pair: 1 << k for k, pair in enumerate((v, base) for v, bases in views.items() for base in bases)}
    made, killed = [0] * len(flow.nodes), [0] * len(flow.nodes)
    for number, node in enumerate(flow.nodes):
        if node is None or is_write(node):
            continue
        bound, anew = flow.bound_at(number), _made_anew(number, flow, facts)
        killed[number] = sum(bit for (v, base), bit in pairs.items() if v in bound or base in anew)
        made[number] = sum(bit for (v, _), bit in pairs.items() if v in bound and v not in anew)
    held = solve_forward(flow, made, killed)
    return lambda number, v: {base for base in views[v] if held[number] & pairs[v, base]}


def is_checked(view: str, body: Block, facts: Facts) -> bool:
    """Whether all that a name is bound to may be elements of arrays: the text makes sure that they are."""
    made = [n for n in statements(body) if view in stores(n) and not is_write(n)]
    if not made or not all(target(n) == view and may_be_number(n, facts) for n in made):
        return False
    check_numbers(body, dict.fromkeys(made), facts)
    return True


def _stale(node: Node, read: str, bases: dict[str, None], flow: Graph, facts: Facts) -> Exception:
    base = next(iter(bases))
    changes = [n for n in flow.nodes if n is not None and (is_write(n) or is_swap(n)) and base in stores(n)]
    lines = [n.lineno for n in changes] or [node.lineno]
    seen = "a part of it" if read in facts.temporaries else f"`{facts.base.get(read, read)}`"
    array = facts.base.get(base, base)
    return facts.refuse(
        node,
        "E5010",
        f"{seen} may show the elements of `{array}` that line {lines[0]} has changed",
        f"copy what is needed before line {lines[0]}: `.copy()`, or read `{array}` itself",
    )


def check_rows(order: list[Node], views: Views, arrays: Iterable[str], facts: Facts) -> None:
    """A loop over the rows of an array must not write into it."""
    for node in order:
        if not (isinstance(node, gast.For) and isinstance(node.iter, gast.Name)):
            continue
        bases = set(views.get(node.iter.id, {})) | ({node.iter.id} & set(arrays))
        for inner in statements(node.body):
            if is_write(inner) and bases & set(written_names(inner)):
                raise facts.refuse(
                    inner, "E5010", "a loop over the rows of an array writes into it", "loop over an index"
                )


def settle(node: Node, flow: Graph, views: Views, arrays: Iterable[str], body: Block, facts: Facts) -> None:
    """Containers and callees that hold an array while it changes are refused."""
    if not isinstance(node, gast.Assign) or is_write(node) or (is_swap(node) and stores(node)[0] in facts.swapped):
        return
    operation = facts.operation.get(node.value)
    callee = operation is not None and operation.kind != "op"
    if not callee and not isinstance(node.value, gast.Tuple | gast.List | gast.Dict):
        return
    if operation is not None and is_new_of_step(node, facts):
        return  # nothing holds what it was given: its adjoint gets the array, once that is what it was
    read = [n.id for n in walk(node.value) if isinstance(n, gast.Name)]
    bases = {base for r in read if r in arrays for base in [r]}
    for view in [r for r in read if r not in arrays and r in views]:
        if written_after(flow, node, views[view], facts) and not is_checked(view, body, facts):
            bases.update(views[view])
    for later in written_after(flow, node, bases, facts):
        array = written_names(later)[0]
        raise facts.refuse(
            later,
            "E5010",
            f"`{facts.base.get(array, array)}` changes, and line {node.lineno} has given it on",
            f"give a copy in line {node.lineno}: `.copy()`",
        )


def written_after(flow: Graph, node: Node, bases: Iterable[str], facts: Facts) -> list[Node]:
    """Writes into one of some arrays, as they are after a statement, that may be reached from there."""
    found: dict[Node, None] = {}
    for base in bases:
        wanted = set(facts.swapped.get(base, {base: None}))
        seen: set[int] = set()
        todo = list(flow.successors[flow.index[node]])
        while todo:
            number = todo.pop()
            if number in seen:
                continue
            seen.add(number)
            after = flow.nodes[number]
            if after is not None and is_write(after) and wanted & set(written_names(after)):
                found[after] = None
            if base not in _made_anew(number, flow, facts):
                todo += flow.successors[number]
    return list(found)


def _made_anew(number: int, flow: Graph, facts: Facts) -> list[str]:
    """Names to which a node gives a new array: nothing has its elements that had those of the one before."""
    node = flow.nodes[number]
    if node is None or is_write(node) or not is_fresh(node, facts):
        return []
    return [bound for bound in flow.bound_at(number) if bound not in facts.swapped]


def check_held(body: Block, flow: Graph, views: Views, facts: Facts) -> None:
    """Refuse a change that another name, another list or a called function would see."""
    order = list(statements(body))
    changed = dict.fromkeys(w for node in order for w in written_names(node) if facts.list_kind(w))
    for node in order:
        if isinstance(node, gast.For) and isinstance(node.iter, gast.Name) and node.iter.id in changed:
            _check_trips(node, facts)
        given = _escaping_operands(node, facts)
        for held in [n.id for part in given for n in walk(part) if isinstance(n, gast.Name)]:
            if held in changed and (later := _changed_after(flow, node, held)) is not None:
                raise _refusal(later, node, held, "list", facts)
        if written_names(node) and facts.list_kind(written_names(node)[0]):
            _check_items(node, given, flow, views, body, facts)


def _escaping_operands(node: Node, facts: Facts) -> list[Node]:
    """What a statement lets something else hold: a second name, an item, an argument."""
    if written_names(node):
        if isinstance(node, gast.Expr):
            return [node.value.args[-1]] if node.value.args else []
        return [node.value] if is_write(node) else []
    value = node.value if isinstance(node, gast.Assign) and not is_swap(node) else None
    if isinstance(value, gast.Name | gast.Tuple | gast.List | gast.Dict | gast.IfExp):
        return [value]
    operation = facts.operation.get(value)
    if operation is not None and operation.function in (list, sorted):
        return []  # a list of its own, of the same items; of a dict, its keys
    if isinstance(value, gast.Call) and operation is not None and operation.kind != "op":
        return [*value.args, *(w.value for w in value.keywords)]
    return []


def _changed_after(flow: Graph, node: Node, held: str) -> Node | None:
    """A change of a list that may come after a statement, before its name holds another one."""
    seen: set[int] = set()
    todo = list(flow.successors[flow.index[node]])
    while todo:
        number = todo.pop()
        if number in seen:
            continue
        seen.add(number)
        after = flow.nodes[number]
        if after is not None and held in written_names(after):
            return after
        if after is None or held not in stores(after):
            todo += flow.successors[number]
    return None


def _check_trips(loop: Node, facts: Facts) -> None:
    for inner in statements(loop.body):
        if loop.iter.id in written_names(inner):
            what = f"a loop over `{_user(loop.iter.id, facts)}` changes it"
            raise facts.refuse(inner, "E5010", what, "loop over a copy: `list(...)`")


def _check_items(node: Node, given: Iterable[Node], flow: Graph, views: Views, body: Block, facts: Facts) -> None:
    """An array that goes into a list and changes later changes in the list as well."""
    kept = [part for part in given if not is_computed(part)]
    for read in [n.id for part in kept for n in walk(part) if isinstance(n, gast.Name)]:
        bases = {read: None} if read in facts.mutable else views.get(read, {})
        later = written_after(flow, node, bases, facts)
        if later and (read in facts.mutable or not is_checked(read, body, facts)):
            raise _refusal(later[0], node, written_names(later[0])[0], "array", facts)


def _refusal(later: Node, node: Node, held: str, what: str, facts: Facts) -> Exception:
    copy = "`.copy()`" if what == "array" else "`list(...)`"
    return facts.refuse(
        later,
        "E5010",
        f"the {what} `{_user(held, facts)}` changes, and line {node.lineno} has given it on",
        f"give a copy in line {node.lineno}: {copy}",
    )


def _user(name: str, facts: Facts) -> str:
    return facts.base.get(name, name)
