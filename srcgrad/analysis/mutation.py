"""Mutation: which arrays change in place, whose they are, who else sees them, and where a copy is needed.

A write is followed where the array is the function's own and every view of it is read before the array changes again.
Views that live on under a name of the user's are made copies; those inside of an expression are read again. Writes into
what the module owns, and names that may be unbound where they are read, are refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import field
from functools import partial
from types import ModuleType
from typing import Any  # a part of a statement, or nothing

import gast
import numpy as np

from srcgrad.analysis.activity import active_sources
from srcgrad.analysis.alias import (
    Views,
    check_held,
    check_rows,
    check_stale,
    containers_of_arrays,
    is_computed,
    is_fresh,
    is_new_of_step,
    makes_rank_zero,
    names_sharing_memory,
    rank_zero,
    settle,
    views_of,
    written_after,
)
from srcgrad.analysis.dtypes import binds_complex, is_complex_array
from srcgrad.core.control_flow import Definitions, Graph, Liveness, definitions, graph, liveness
from srcgrad.core.facts import SCALAR, UNKNOWN, Facts, Operation, copy_with_facts
from srcgrad.core.identity import record
from srcgrad.core.namespace import Step
from srcgrad.core.rules import is_users, may_show, rule_of
from srcgrad.core.trees import (
    Block,
    Node,
    assign,
    at,
    bound_names,
    copy,
    expression,
    find_nodes,
    header,
    holds,
    is_basic,
    is_swap,
    is_write,
    loads,
    name,
    parameters,
    part_written,
    root,
    statement,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.core.visitor import rewrite_statements
from srcgrad.frontend.calls.side_effects import Effects
from srcgrad.frontend.context import own_statement
from srcgrad.frontend.early_facts import gives_several, read_always
from srcgrad.frontend.resolve import binding_of, dtype_given
from srcgrad.runtime import add, owned


def give_copies(node: Node, flow: Graph, views: Views, facts: Facts, given: frozenset[str]) -> Block:
    """A function that is called with an array that changes later gets a copy, which its pullback may keep.

    So does the forward half of a class of two halves, which may keep its arguments; and so do a list, a tuple and a
    dict of our own text, which undoes what was written into an array that they hold. `given` are names that may hold a
    list of Python's.
    """
    made: Block = [node]
    context = facts.filled_by(node)
    for place in _places(node, context, facts):
        for number, item in enumerate(place):
            read = item.value if isinstance(item, gast.keyword) else item
            if not isinstance(read, gast.Name) or read.id == context:
                continue
            bases = {read.id: None} if read.id in facts.memory.mutable else views.get(read.id, {})
            if not bases or not written_after(flow, node, bases, facts):
                continue
            held, copy = _copy_of(read, node, facts, given)
            made.insert(0, copy)
            if isinstance(item, gast.keyword):
                item.value = held
            else:
                place[number] = held
    return made


def _places(node: Node, context: str | None, facts: Facts) -> list[list[Node]]:
    """Where a statement gives something to what may keep it: to a call; in our own text also to a list, tuple, dict."""
    value: Any = getattr(node, "value", None)
    operation = facts.resolution.operation.get(value)
    if isinstance(node, gast.Assign) and operation is not None:
        if (operation.kind == "op" and context is None) or isinstance(operation.function, Step):
            return []  # the adjoint of a step is given the array, once that is what it was
        return [value.args, *([w] for w in value.keywords)]
    if not facts.request.generated:
        return []
    if isinstance(node, gast.Expr) and any(facts.list_kind(held) for held in written_names(node)):
        return [value.args]
    if isinstance(node, gast.Assign) and not is_swap(node) and isinstance(value, gast.Tuple | gast.List | gast.Dict):
        return [value.values if isinstance(value, gast.Dict) else value.elts]
    return []


def _copy_of(read: Node, node: Node, facts: Facts, given: frozenset[str]) -> tuple[Node, Node]:
    """A temporary that holds a copy of what a name holds now, and the statement that makes it."""
    of_any = f"{facts.library('np')}.copy(x)" if _may_be_number(read.id, facts, given) else ""
    made = _bind_temporary(_copy_call(read, facts, of_any or "x.copy()"), read.id, node, facts)
    held = name(str(target(made)))
    if read in facts.values.spec:
        facts.values.spec[made] = facts.values.spec[held] = facts.values.value_spec[held.id] = facts.values.spec[read]
    return held, made


def _may_be_number(held: str, facts: Facts, given: frozenset[str]) -> bool:
    """Whether a name may hold a number of Python's: one of two branches gives it that, or a list or dict has it."""
    value = getattr(facts.activity.definition.get(held), "value", None)
    return held not in facts.memory.mutable and (
        value is None or _is_item(value, facts, given) or _is_of_called(value, facts)
    )


def _is_of_called(value: Node, facts: Facts) -> bool:
    """Whether a function with a source gives a value of which no axis is known: some of its ways may give a number."""
    operation = facts.resolution.operation.get(value)
    spec = facts.values.spec.get(value)
    return operation is not None and operation.kind != "op" and (spec is None or spec.ndim is None)


def _is_item(value: Node, facts: Facts, given: frozenset[str]) -> bool:
    """Whether an expression reads an item of a list, tuple or dict, or takes one out: `d.pop()`."""
    if isinstance(value, gast.Call) and getattr(value.func, "attr", "") == "pop":
        return getattr(value.func.value, "id", "") in facts.kinds.containers
    held = getattr(value.value, "id", "") if isinstance(value, gast.Subscript) else ""
    return held in facts.kinds.containers or (held in given and not holds(value.slice, gast.Slice, gast.Tuple))


def _copy_call(read: Node, facts: Facts, spelled: str = "x.copy()") -> Node:
    """`x.copy()`"""
    value = expression(spelled, x=read)
    facts.resolution.operation[value] = Operation("op", np.copy, rule_of(np.copy), {"a": read})
    return value


def _bind_temporary(value: Node, like: str, node: Node, facts: Facts) -> Node:
    """A statement that binds a temporary, which is active if `like` is, for a part of another statement."""
    held = facts.names.new_temporary()
    made = at(assign(held, value), node)
    facts.activity.definition[held], facts.activity.reads[held] = made, 1
    for table in (facts.activity.active, facts.activity.varied, facts.values.complex):
        if like in table:
            table[held] = None
    user = facts.origin.user.get(node, node)
    facts.origin.user[made] = user
    facts.origin.rewritten[user] = None
    return made


def detach(
    node: Node, flow: Graph, views: Views, facts: Facts, numbers: frozenset[str], given: frozenset[str]
) -> Block:
    """`v = a[1:]`, where a is written into later, keeps a copy: v is never read once the two differ.

    What a forward half keeps is no such part: `Context(a)` holds no elements of a. `numbers` are names that may hold a
    Python number, as the result of a function that has returned nothing yet does; `given` those that may hold a list.
    """
    bound, block = target(node), [node]
    if _unpacks_rows(node, flow, views, facts):
        node.value, made = _copy_of(node.value, node, facts, given)
        return [made, node]
    if bound not in views or bound in facts.memory.viewed or bound in facts.calls.fills.values():
        return block
    kept = any(read in views or read in facts.memory.mutable for read in names_sharing_memory(node, facts))
    if kept and isinstance(node.value, gast.Tuple) and written_after(flow, node, views[bound], facts):
        for number, item in enumerate(node.value.elts):  # a tuple has no copy of what it holds
            if isinstance(item, gast.Name) and (item.id in views or item.id in facts.memory.mutable):
                node.value.elts[number], made = _copy_of(item, node, facts, given)
                block.insert(0, made)
    elif kept and written_after(flow, node, views[bound], facts):
        made = _bind_temporary(node.value, bound, node, facts)
        held = name(str(target(made)))
        if node in facts.resolution.moving:
            facts.resolution.moving[made] = None
        else:
            facts.memory.viewed[held.id] = None
        facts.values.spec[made] = facts.values.spec[held] = facts.values.value_spec[held.id] = facts.values.spec[node]
        of_any = f"{facts.library('np')}.copy(x)"  # a number has no method
        number = getattr(made.value, "id", "") in numbers or _is_item(made.value, facts, given)
        node.value = _copy_call(held, facts, of_any if number else "x.copy()")
        block.insert(0, made)
    return block


def _unpacks_rows(node: Node, flow: Graph, views: Views, facts: Facts) -> bool:
    """Whether `u, v = a` may bind rows of an array that is written into later: not where a is sure to have one axis."""
    if not isinstance(node, gast.Assign) or target(node) is not None or is_write(node) or is_swap(node):
        return False
    if not isinstance(node.value, gast.Name):
        return False
    kind, spec = facts.kinds.of_names.get(node.value.id), facts.values.value_spec.get(node.value.id)
    if (kind is not None and kind.tag == "array" and kind.ndim == 1) or (spec is not None and spec.ndim == 1):
        return False
    shown = [one for one in stores(node) if one in views and one not in facts.memory.viewed]
    return any(written_after(flow, node, views[one], facts) for one in shown)


def check_entered(function: Node, facts: Facts) -> Node:
    """Refuse calls of functions that change an argument in place, where it may be an array and nothing is active.

    What carries a derivative is looked at in the function itself.
    """
    order = list(statements(function.body))
    procedures = Effects(facts, augments=True)
    read = {one for node in order for one in loads(node)}
    for node in order:
        unread = target(node) is not None and target(node) not in read  # it goes, and what it changes would not change
        for call in (n for part in header(node) for n in find_nodes(part, gast.Call)):
            if call is getattr(node, "value", None) and any(one in facts.activity.active for one in stores(node)):
                continue
            for given in procedures.arguments(call, facts, facts.names.local):
                for held in (n.id for n in find_nodes(given, gast.Name) if not is_computed(given)):
                    if _may_be_array(held, order, facts) or (unread and not _is_number(held, facts)):
                        raise facts.refuse(
                            call,
                            "E5010",
                            f"`{gast.unparse(call.func)}` changes its argument in place where that is an array",
                            "write `a = a + e` in that function for `a += e`, or give it a copy: `.copy()`",
                        )
    return function


def _may_be_array(held: str, order: list[Node], facts: Facts) -> bool:
    """Whether a name may hold an array that something else reads: of floats, of the module, or one that was given."""
    if _is_number(held, facts):
        return False
    made = facts.activity.definition.get(held)
    if held in facts.names.temporaries and made is not None and is_fresh(made, facts):
        return False
    return (
        held in facts.activity.varied
        or facts.kinds.of_names.get(held, UNKNOWN).tag == "array"
        or _shows_module(held, order, facts)
    )


def _is_number(held: str, facts: Facts) -> bool:
    """Whether a name holds a number: no array without axes, which changes in place as others do."""
    spec = facts.values.value_spec.get(held)
    if facts.kinds.of_names.get(held, UNKNOWN).tag == "array":
        return False
    return facts.kinds.of_names.get(held, UNKNOWN).tag == "scalar" or (spec is not None and spec.scalar)


def _shows_module(held: str, order: list[Node], facts: Facts) -> bool:
    """Whether a name may show an array of the module: by itself, or by what it was bound to."""
    todo = [held]
    for one in todo:
        found = None if one in facts.names.local else facts.namespace.lookup(one)
        if found is not None and found.kind == "object" and isinstance(found.object, np.ndarray):
            return True
        for node in order:
            if one in stores(node) and not is_fresh(node, facts):
                todo += [read for read in names_sharing_memory(node, facts) if read not in todo]
    return False


def check_mutation(function: Node, facts: Facts) -> Node:
    """Refuse writes into arrays that may be someone else's, and reads of views that have gone stale."""
    order = list(statements(function.body))
    if not facts.request.generated and _raise_for_numbers(function, order, facts):
        order = list(statements(function.body))
    changed = dict.fromkeys(a for node in order if is_write(node) for a in written_names(node))
    written_into = [a for a in changed if not facts.list_kind(a)]
    arrays = {b: None for a in written_into for b in facts.memory.swapped.get(a, {a: None})}
    facts.memory.mutable.update(arrays)
    facts.memory.added_to.update(dict.fromkeys(a for node in order if _adds(node) for a in written_names(node)))
    if not arrays:
        if facts.kinds.lists and not facts.request.generated:
            check_held(function.body, graph(function.body), {}, facts)
        return function
    own_written_arrays(function, arrays, facts)
    order = list(statements(function.body))
    views = views_of(order, arrays, facts)
    if not facts.request.generated:  # what our text reads late is a number
        check_stale(graph(function.body), views, function.body, facts)
        check_held(function.body, graph(function.body), views, facts)
    flow, lists = graph(function.body), _given_lists(order, function, facts)
    function.body = rewrite_statements(
        function.body, lambda node: give_copies(node, flow, views, facts, lists), backwards=True
    )
    if facts.request.generated:
        check_held(function.body, graph(function.body), views, facts)
    order = list(statements(function.body))
    views = views_of(order, arrays, facts)
    facts.memory.views.update(dict.fromkeys(views))
    facts.memory.holding.update(containers_of_arrays(order, {**dict.fromkeys(views), **arrays}, facts))
    binding = _bindings(order)
    looped = {getattr(node.iter, "id", "") for node in order if isinstance(node, gast.For)}
    reaching: list[Definitions] = []
    own = [view for view in views if view in facts.names.temporaries and view not in looped]
    facts.memory.viewed.update(dict.fromkeys(v for v in own if _is_read_again(v, binding.get(v, []), facts)))
    _check_rank_zero(order, arrays, facts)
    for array in arrays:
        if facts.request.generated:  # our text writes into what it owns
            _check_container(array, order, facts)
        else:
            _check_origin(array, binding.get(array, []), function, reaching, facts)
    flow = graph(function.body)
    check_rows(order, views, arrays, facts)
    for node in order:
        settle(node, flow, views, arrays, function.body, facts)
    numbers = _numbers(order, function, facts)
    function.body = rewrite_statements(
        function.body, lambda node: detach(node, flow, views, facts, numbers, lists), backwards=True
    )
    return function


def check_dtypes(function: Node, facts: Facts) -> Node:
    """Where an array that gets active values may hold integers, look when it is made."""
    writes = [node for node in statements(function.body) if is_write(node)]
    exact = not any(binds_complex(node, facts) for node in writes) if facts.values.complex else True
    function.body = rewrite_statements(function.body, lambda node: _check_floating(node, exact, facts), backwards=True)
    return function


def look_at_options(function: Node, facts: Facts) -> Node:
    """`d = np.diff(x, n)`, of which elements are written: that d is not x, as for n = 0, is looked at where it runs."""
    written = {a for node in statements(function.body) if is_write(node) for a in written_names(node)}

    def looked_at(node: Node) -> Block:
        operation, held = facts.operation_of(node), target(node)
        if held not in written or operation is None or operation.kind != "op" or not _asks_options(operation):
            return [node]
        shown = next(iter(operation.bound.values()))
        if not isinstance(shown, gast.Name):
            return [node]
        facts.resolution.apart[node] = None
        check = statement(f"{facts.library('check_number')}(x, a)", x=name(str(held)), a=copy_with_facts(shown, facts))
        facts.resolution.effects[check] = None
        facts.origin.user[check] = facts.origin.user.get(node, node)
        return [node, at(check, node)]

    function.body = rewrite_statements(function.body, looked_at, backwards=True)
    return function


def _asks_options(operation: Operation) -> bool:
    """Whether nothing but an option, whose value is not known, may make the result of an operation its argument."""
    rule = operation.rule
    if rule is None or is_users(rule) or rule.result != "new" or not may_show(operation.function, operation.bound):
        return False
    given = {p: v for p, v in operation.bound.items() if not isinstance(v, gast.Constant)}
    return may_show(operation.function, given)


def look_at_items(function: Node, facts: Facts) -> Node:
    """Look at the items that are updated when the text runs, where they are not known to be numbers."""
    if facts.origin.updates:
        order = list(statements(function.body))
        given = {p for p in parameters(function) if not facts.kinds.of_names.get(p, UNKNOWN).items}
        held = dict.fromkeys(written_names(node)[0] for node in facts.origin.updates)
        unknown = {one: None for one in held if one in given or not _holds_numbers(one, order, facts)}
        flow = graph(function.body) if unknown else Graph()
        unknown = {one: None for one in unknown if one in given or not _holds_own_arrays(one, order, flow, facts)}
        _look(function, unknown, facts)
    mixed = [n for n in statements(function.body) if isinstance(n, gast.AugAssign) and _is_mixed(n, facts)]
    if mixed:
        _look(function, dict.fromkeys(written_names(node)[0] for node in mixed), facts, mixed)
    return function


def _is_mixed(node: Node, facts: Facts) -> bool:
    """Whether `d[k] += e` updates what a name holds as a list in one place, and as another kind of value elsewhere."""
    held = getattr(getattr(node.target, "value", None), "id", "")
    kinds = [
        facts.kinds.of_names[one].tag for one in (held, facts.names.base.get(held, held)) if one in facts.kinds.of_names
    ]
    return any(tag in ("list", "tuple", "dict") for tag in kinds)


def _holds_numbers(held: str, order: list[Node], facts: Facts) -> bool:
    """Whether all that goes into a list or dict is known to be a number."""
    kind = facts.kinds.of_names.get(facts.names.base.get(held, held))
    if kind is not None and any(part.tag != "scalar" for _, part in kind.items):
        return False
    for node in order:
        if target(node) == held:
            value = node.value
            parts = getattr(value, "elts", None) or getattr(value, "values", None)
            empty = isinstance(value, gast.List | gast.Dict) and not parts
            if (
                node not in facts.resolution.copies
                and not empty
                and not all(_is_number_item(p, facts) for p in parts or [value])
            ):
                return False
        elif held in written_names(node) and is_write(node) and node not in facts.origin.updates:
            if not _is_number_item(node.value, facts):
                return False
        elif held in written_names(node) and isinstance(node, gast.Expr) and node.value.args:
            if not _is_number_item(node.value.args[-1], facts):
                return False
    return True


def _is_number_item(value: Node, facts: Facts) -> bool:
    if isinstance(value, gast.Constant):
        return isinstance(value.value, int | float)
    spec = facts.values.spec.get(value)
    return spec is not None and spec.scalar


def _look(function: Node, unknown: dict[str, None], facts: Facts, mixed: Iterable[Node] = ()) -> None:
    def looked_at(node: Node) -> Block:
        if not (node in facts.origin.updates or node in mixed) or written_names(node)[0] not in unknown:
            return [node]
        part = copy_with_facts(part_written(node), facts)
        part.ctx = gast.Load()
        call = f"{facts.library('check_item')}(x)"
        if node in mixed:
            call = call.replace("(x)", f"(x, {written_names(node)[0]})")
        check = statement(call, x=part)
        facts.resolution.effects[check] = None
        facts.origin.user[check] = facts.origin.user.get(node, node)
        return [at(check, node), node]

    function.body = rewrite_statements(function.body, looked_at, backwards=True)


def _holds_own_arrays(held: str, order: list[Node], flow: Graph, facts: Facts) -> bool:
    """Whether a list or dict made here alone holds what is in it, wherever `d[k] *= e` updates an item.

    What goes in is new and has no other name; what is read of it before an update is read to compute.
    """
    if not facts.list_kind(held):
        return False
    updates = [node for node in facts.origin.updates if written_names(node)[0] == held]
    loops, shown = _loops_around(order), {one for node in order for one in names_sharing_memory(node, facts)}
    for node in order:
        if held in stores(node) or (held in written_names(node) and isinstance(node, gast.Expr)):
            given = node.value.args if isinstance(node, gast.Expr) else [node.value]
            if not all(_is_new_item(one, node, loops, facts) for one in given):
                return False
        elif held in loads(node) and not _reads_to_compute(node, held, shown, facts):
            if any(flow.nodes[number] in updates for number in flow.after(node, lambda number: True)):
                return False
    return True


def _loops_around(order: list[Node]) -> dict[Node, list[Node]]:
    """By statement, the loops in which it stands."""
    found: dict[Node, list[Node]] = {}
    for loop in [node for node in order if isinstance(node, gast.For | gast.While)]:
        for node in statements(loop.body):
            found.setdefault(node, []).append(loop)
    return found


def _is_new_item(value: Node, node: Node, loops: dict[Node, list[Node]], facts: Facts) -> bool:
    """Whether what goes into a list or dict is a number, or an array made in the same trip and read there alone."""
    if isinstance(value, gast.List | gast.Tuple | gast.Dict):
        parts = value.values if isinstance(value, gast.Dict) else value.elts
        return all(_is_new_item(one, node, loops, facts) for one in parts)
    if isinstance(value, gast.Name):
        made = facts.activity.definition.get(value.id)
        if made is None or facts.activity.reads.get(value.id) != 1 or not is_fresh(made, facts):
            return False
        return loops.get(made) == loops.get(node)
    return isinstance(value, gast.Constant)


def _reads_to_compute(node: Node, held: str, shown: set[str], facts: Facts) -> bool:
    """Whether a statement reads an item that is only computed with, the keys of a dict, or a length."""
    if isinstance(node, gast.For):
        return getattr(node.iter, "id", "") == held and facts.list_kind(held) == "dict"
    value = getattr(node, "value", None)
    if isinstance(node, gast.Assign) and isinstance(value, gast.Subscript) and getattr(value.value, "id", "") == held:
        read = target(node)
        return read in facts.names.temporaries and read not in shown
    return value is not None and is_computed(value)


def _numbers(order: list[Node], function: Node, facts: Facts) -> frozenset[str]:
    """Names that may hold a number of Python's: of arguments, literals and arithmetic of these, or of such names."""
    given = parameters(function) if not facts.request.generated else ()
    found = {one: None for one in given if facts.kinds.arguments.get(one, UNKNOWN).tag != "array"}
    before = -1
    while before < len(found):
        before = len(found)
        for node in order:
            bound, value = target(node), getattr(node, "value", None)
            parts = (value,) if not isinstance(value, gast.BinOp) else (value.left, value.right)
            if bound is not None and all(
                isinstance(n, gast.Constant) or getattr(n, "id", None) in found for n in parts
            ):
                found[bound] = None
    return frozenset(found)


def _given_lists(order: list[Node], function: Node, facts: Facts) -> frozenset[str]:
    """Names that may hold a list of Python's: arguments of which nothing is known, their slices and copies."""
    if facts.request.generated or facts.module.target.typed or facts.module.target.kernels:
        return frozenset()
    known = (facts.kinds.arguments, facts.kinds.of_names)
    asked = [p for p in parameters(function) if all(of.get(p, UNKNOWN).tag == "unknown" for of in known)]
    found = dict.fromkeys(asked)
    before = -1
    while before < len(found):
        before = len(found)
        found.update((str(target(n)), None) for n in order if target(n) and _part_of_given(n.value, facts) in found)
    return frozenset(found)


def _part_of_given(value: Node, facts: Facts) -> str:
    """The name of which an expression is another name, a slice or a copy."""
    called = facts.resolution.operation.get(value)
    if called is not None and called.function in (owned, np.copy, np.ndarray.copy):
        return _part_of_given(next(iter(called.bound.values())), facts)
    if isinstance(value, gast.Subscript) and isinstance(value.slice, gast.Slice):
        return _part_of_given(value.value, facts)
    return str(getattr(value, "id", ""))


def _adds(node: Node) -> bool:
    """`add_at(a, i, e)`, `np.add.at(a, i, e)`"""
    function = node.value.func if isinstance(node, gast.Expr) and isinstance(node.value, gast.Call) else None
    return isinstance(function, gast.Name) or (isinstance(function, gast.Attribute) and function.attr == "at")


def _is_read_again(view: str, binding: list[Node], facts: Facts) -> bool:
    """Whether a view may be taken again where it is needed: it is not what a function gave."""
    bound = [n for n in binding if target(n) == view]
    if any(n in facts.resolution.moving for n in bound):
        return False  # a call that gives something else the next time
    made = [facts.resolution.operation.get(n.value) for n in bound]
    return len(made) == 1 and all(one is None or (one.kind == "op" and not _is_users(one)) for one in made)


def _is_users(operation: Operation) -> bool:
    return operation.rule is not None and is_users(operation.rule)


def _check_rank_zero(order: list[Node], arrays: Iterable[str], facts: Facts) -> None:
    """A part of an array without axes, `a.T` say, is written into by no text of ours: the adjoint is a number."""
    for node in [n for n in order if is_write(n) and not isinstance(part_written(n).value, gast.Name)]:
        array = written_names(node)[0]
        spec = facts.values.value_spec.get(array)
        if array in arrays and spec is not None and spec.scalar and not facts.request.generated:
            raise facts.refuse(
                node, "E5010", f"a write through a view of `{array}`, which has no axes", f"write `{array}[...] = ...`"
            )


def _check_origin(array: str, bound: list[Node], function: Node, reaching: list[Definitions], facts: Facts) -> None:
    """Every array that a name may hold where it is written into must have been made here; `bound` bind the name."""
    for node, where in _foreign_writes(array, bound, function, reaching, facts):
        raise _is_not_own(array, node, where, facts)


def _foreign_writes(
    array: str, bound: list[Node], function: Node, known: list[Definitions], facts: Facts
) -> Iterator[tuple[Node, Node | None]]:
    """Writes into what may not have been made here, each with what binds the name to that; None for an argument.

    The definitions that reach what are `known` from the first array on that asks for them.
    """
    doubtful = [n for n in bound if not (is_write(n) or is_swap(n) or _makes_array(n, facts) or _binds_none(n))]
    given = array in parameters(function) and facts.kinds.arguments.get(array, UNKNOWN) != SCALAR
    if not doubtful and not given:
        return
    reaching = known[0] if known else definitions(function.body, parameters(function))
    known[:] = [reaching]
    for node in bound:
        if not is_write(node) and not is_swap(node):
            continue
        for one in [reaching.graph.nodes[reaching.of[k][0]] for k in reaching.at(node, array)]:
            if (one is None and given) or one in doubtful:
                yield node, one


def own_written_arrays(function: Node, arrays: Iterable[str], facts: Facts) -> None:
    """`a = owned(np.asarray(a), ())` for `a = np.asarray(a)`, where elements of a are written.

    What else may show these elements is not read any more; or it is an array, and the text sees to it when it runs that
    it shows none. In a function that a text calls nobody but its caller knows what is read behind it.
    """
    if facts.request.generated or facts.request.called or facts.request.step is not None:
        return
    binding = _bindings(statements(function.body))
    known: list[Definitions] = []
    writes = [one for a in arrays for one in _foreign_writes(a, binding.get(a, []), function, known, facts)]
    doubtful = {made: node for node, made in writes if made is not None}
    if not doubtful:
        return
    order = statements(function.body)
    seen = {one for node in order for one in loads(node)}
    function.body = [n for n in function.body if n in doubtful or not _is_idle(n, seen)]
    near, live = _near_names(function, facts), liveness(function.body)
    read = {node: found for node in doubtful if (found := _others_read(node, near, live, binding, facts)) is not None}
    for node in read:
        for one in near.get(str(target(node)), frozenset()).intersection(facts.kinds.arguments):
            facts.resolution.entered.setdefault(one, doubtful[node])
    given = [one for one in facts.kinds.arguments if not _is_number(one, facts)]

    def own(node: Node) -> Block:
        if node not in read:
            return [node]
        after = live.after[live.graph.index[node]]
        beside = [one for one in given if after & live.bits.get(one, 0) and one not in read[node]]
        return _own(node, read[node], beside, facts)

    function.body = rewrite_statements(function.body, own, backwards=True)


def _raise_for_numbers(function: Node, order: list[Node], facts: Facts) -> bool:
    """`raise TypeError(...)` for a write into what is a number in any case, as behind `if not np.isscalar(y):`."""
    written = {one for node in order if is_write(node) for one in written_names(node)}
    written -= {one for node in order if is_write(node) and _of_whole(node) for one in written_names(node)}
    binding = _bindings(node for node in order if not is_write(node)) if written else {}
    known = {p for p in parameters(function) if facts.kinds.arguments.get(p, UNKNOWN) == SCALAR}
    known |= {one for one in binding if one not in parameters(function)}
    found = {one for one in written & known if all(_binds_number(n, one, facts) for n in binding.get(one, []))}
    found -= set(rank_zero(order, facts)) if found else found

    def raises(node: Node) -> Block:
        held = written_names(node)[0] if is_write(node) and written_names(node) else ""
        if held not in found:
            return [node]
        message = f"{facts.names.base.get(held, held)!r} is a number, which has no items to write into"
        return [own_statement(statement(f"raise TypeError({message!r})"), node, facts)]

    function.body = rewrite_statements(function.body, raises) if found else function.body
    return bool(found)


def _of_whole(node: Node) -> bool:
    """Whether a statement writes `a[...]`, as `a += e` is spelled for arrays: it may mean a number as well."""
    return getattr(getattr(part_written(node), "slice", None), "value", None) is ...


def _binds_number(node: Node, held: str, facts: Facts) -> bool:
    return target(node) == held and not isinstance(node, gast.For) and facts.values.spec[node].scalar


def _is_idle(node: Node, seen: set[str]) -> bool:
    """Whether an assignment gives a name that nothing reads to what another name holds."""
    named = isinstance(node, gast.Assign) and isinstance(node.value, gast.Name)
    return named and target(node) is not None and target(node) not in seen


def _bindings(order: Iterable[Node]) -> dict[str, list[Node]]:
    """The statements that bind each name."""
    found: dict[str, list[Node]] = {}
    for node in order:
        for one in dict.fromkeys(stores(node)):
            found.setdefault(one, []).append(node)
    return found


def _near_names(function: Node, facts: Facts) -> dict[str, frozenset[str]]:
    """By name, all names that may share memory with it; "" among them where that may be a value of the module."""
    order = statements(function.body)
    binding = _bindings(order)
    local = {*parameters(function), *binding}
    numbers = {one for one in local if _is_number(one, facts)} - set(rank_zero(order, facts))
    found: dict[str, frozenset[str]] = {}
    for node in order:
        shown = names_sharing_memory(node, facts)
        if isinstance(node, gast.Expr) or (is_write(node) and _may_hold(written_names(node)[0], binding, facts)):
            shown = [n.id for n in find_nodes(node.value, gast.Name)]
        of_module = any(one not in local and _is_value(one, facts) for one in shown)
        near = [one for one in [*stores(node), *shown] if one in local and one not in numbers]
        group = frozenset([*near, *([""] if of_module else [])])
        if len(group) > 1:
            group = group.union(*(found.get(one, frozenset()) for one in group))
            found.update(dict.fromkeys(group, group))
    return found


def _may_hold(held: str, binding: dict[str, list[Node]], facts: Facts) -> bool:
    """Whether what is written into may be a list or a dict, which holds what is put into it."""
    made = [node for node in binding.get(held, []) if not is_write(node)]
    if held in facts.kinds.containers:
        return True
    return not _is_known_array(held, facts) and not (made and all(_gives_array(node, facts) for node in made))


def _gives_array(node: Node, facts: Facts) -> bool:
    """Whether a statement binds what a function of NumPy gives, which is no list and no dict."""
    operation = facts.operation_of(node)
    if operation is None or target(node) is None or (operation.rule is not None and operation.rule.gives == "arrays"):
        return False
    function = operation.function
    return isinstance(function, np.ufunc) or str(getattr(function, "__module__", "")).partition(".")[0] == "numpy"


def _is_value(held: str, facts: Facts) -> bool:
    """Whether a name of the module is neither a module nor a function, or is not known."""
    found = facts.namespace.lookup(held)
    return found is None or not (isinstance(found.object, ModuleType) or callable(found.object))


def _others_read(
    node: Node, near: dict[str, frozenset[str]], live: Liveness, binding: dict[str, list[Node]], facts: Facts
) -> list[str] | None:
    """The arrays to look at where a statement binds what it may share with them; None where no look can tell."""
    bound = target(node)
    if bound is None or not isinstance(node, gast.Assign):
        return None
    group = near.get(bound, frozenset())
    shown = {*loads(node), *group} - {bound}
    makers = [node, *(n for one in shown for n in binding.get(one, []) if not is_write(n))]
    if any(one in facts.resolution.kept for one in makers):
        return None
    local = {*binding, *facts.kinds.arguments}
    if any(_is_of_user(call, local, facts) for one in makers for call in find_nodes(one, gast.Call)):
        return None  # which may keep what it gives
    after = live.after[live.graph.index[node]]
    read = [one for one in live.bits if one in group and one != bound and after & live.bits[one]]
    if "" in group or (read and _is_sure(node.value)) or any(_may_hold(one, binding, facts) for one in read):
        return None
    return read


def _is_of_user(call: Node, local: Collection[str], facts: Facts) -> bool:
    """Whether a call may be of a user's function: it is neither an operation nor a method of a local value."""
    operation = facts.resolution.operation.get(call)
    if operation is not None:
        return operation.kind != "op" and not _is_composition(operation.function)
    base = root(call.func)
    return base is None or base.id not in local


def _is_composition(function: object) -> bool:
    """Whether a function is what the rule of a library's function says that this is."""
    return str(getattr(function, "__module__", "")).startswith("srcgrad.templates.")


def _is_sure(value: Node) -> bool:
    """Whether an expression is another name of what it reads, or a part that is given by its places."""
    return isinstance(value, gast.Name | gast.Attribute | gast.Tuple | gast.List | gast.Dict) or (
        isinstance(value, gast.Subscript) and is_basic(value.slice)
    )


def _is_known_array(held: str, facts: Facts) -> bool:
    kind, spec = facts.kinds.arguments.get(held, UNKNOWN), facts.values.value_spec.get(held)
    return kind.tag == "array" or (spec is not None and spec.ndim is not None)


def _own(node: Node, read: list[str], beside: list[str], facts: Facts) -> Block:
    """`t = e`, `check_number(t, b)` for each b that is read later, and `a = owned(t, others)`, for `a = e`."""
    made = _bind_temporary(node.value, str(target(node)), node, facts)
    held = name(str(target(made)))
    several = gast.Tuple([name(one) for one in beside], gast.Load())
    node.value = expression(f"{facts.library('owned')}(x, others)", x=held, others=several)
    bound = {"x": held, "others": several}
    facts.resolution.operation[node.value] = Operation("op", owned, rule_of(owned), bound)
    facts.values.spec[made] = facts.values.spec[held] = facts.values.value_spec[held.id] = facts.values.spec[node]
    checks = [at(statement(f"{facts.library('check_number')}({held.id}, {one})"), node) for one in read]
    called = facts.operation_of(made)
    shows = called is None or called.rule is None or called.rule.result == "view"
    if not facts.values.spec[node].ndim and (shows or not makes_rank_zero(made.value, facts)):
        checks.append(at(statement(f"{facts.library('check_array')}({held.id})"), node))
    facts.resolution.effects.update(dict.fromkeys(checks))
    return [made, *checks, node]


def _is_not_own(array: str, node: Node, made: Node | None, facts: Facts) -> Exception:
    """The error of a write into what the caller holds (`made` is None), or what a statement binds the name to."""
    user = facts.names.base.get(array, array)
    if made is None:
        wrong = f"`{user}` is an argument, which the caller holds"
        return facts.refuse(node, "E5010", wrong, f"write into a copy: `{user} = {user}.copy()` before it changes")
    line = getattr(made, "lineno", 0)
    key = getattr(getattr(part_written(node), "slice", None), "value", None)
    if isinstance(key, str):  # of a dict, or of an object, which is one in the text
        return facts.refuse(
            node,
            "E5010",
            f"`{user}` changes, and line {line} may bind it to what something else holds",
            f"make a new object or dict in line {line}, or change it by the name that it was made with",
        )
    own = "np.array(...)`, `np.zeros(...)` or `.copy()"
    if isinstance(made.value, gast.Name):
        own = f"{user} = {facts.names.base.get(made.value.id, made.value.id)}.copy()"
    return facts.refuse(
        node,
        "E5010",
        f"`{user}` is written into, and line {line} may bind it to what something else holds, or to no array",
        f"make it an array of its own in line {line}: `{own}`",
    )


def _check_floating(node: Node, exact: bool, facts: Facts) -> Block:
    """`check_floating(a)` behind `a = ...`, for an array that gets active values and whose dtype is in doubt.

    It is `check_complex(a)` for a complex one, unless all writes of the function are `exact`: of real numbers.
    """
    bound = None if _binds_none(node) else target(node)
    if bound is None or bound not in facts.memory.mutable or bound not in facts.activity.active:
        return [node]
    helper = _doubt(bound, node, exact, facts)
    if not helper:
        return [node]
    check = statement(f"{facts.library(helper)}(a)", a=name(bound))
    facts.resolution.effects[check] = None
    return [node, at(check, node)]


def _doubt(bound: str, node: Node, exact: bool, facts: Facts) -> str:
    """The helper that looks at a new array, where the dtype is not known to hold what will be written into it."""
    if bound in facts.values.complex and (not exact or is_complex_array(node.value, facts)):
        return "" if is_complex_array(node.value, facts) else "check_complex"
    return "" if _is_floating(node, facts) else "check_floating"


def _is_floating(node: Node, facts: Facts) -> bool:
    """Whether a new array is known to hold floats: made of an active one, or by zeros, ones, empty without a dtype."""
    value, operation = node.value, facts.resolution.operation.get(node.value)
    if operation is not None and operation.function is owned:
        return _is_floating_argument(getattr(operation.bound["x"], "id", ""), facts)
    called = isinstance(value, gast.Call)
    found = binding_of(value.func, facts, facts.names.local) if called and operation is None else None
    function = operation.function if operation is not None else getattr(found, "object", None)
    given = dtype_given(function, value.args, value.keywords, facts) if called else ""
    if given == "?" and not any(isinstance(n, gast.Attribute) and n.attr == "dtype" for n in walk(value)):
        return False
    rule = rule_of(function)
    if rule is not None and rule.is_like_first and called:  # `np.full_like(k, x)` of integers holds integers
        first = next(iter(value.args), value) if operation is None else operation.bound.get(rule.shape, value)
        if any(n in facts.activity.active for n in loads(first)):
            return True
    elif any(n in facts.activity.active for n in active_sources(node, facts)):
        return True
    return rule is not None and rule.dtype == "float" and len(value.args) == 1 and not value.keywords


def _is_floating_argument(name: str, facts: Facts) -> bool:
    """Whether an argument holds floats, since a derivative by it is asked for or since a call has shown it."""
    given = facts.names.base.get(name, name)
    kind = facts.kinds.of_names.get(given)
    return given in facts.request.wrt or (kind is not None and kind.tag == "array" and kind.dtype != "integer")


def _check_container(array: str, order: list[Node], facts: Facts) -> None:
    """An adjoint of a container is added to part by part: its derivative is not made yet."""
    for node in order:
        if not (isinstance(node, gast.Assign) and is_write(node) and array in written_names(node)):
            continue
        made = facts.activity.definition.get(getattr(node.value, "id", ""))
        operation = facts.resolution.operation.get(getattr(made, "value", node.value))
        if array in facts.kinds.containers or (operation is not None and operation.function is add):
            raise facts.refuse(
                node, "E5010", "a write into a container is not accepted", "compute the new value and bind it to a name"
            )


def _is_display(value: Node) -> bool:
    """Whether an expression is a list or a tuple, or such ones put together."""
    if isinstance(value, gast.BinOp):
        return _is_display(value.left) or _is_display(value.right)
    return isinstance(value, gast.List | gast.Tuple)


def _makes_array(node: Node, facts: Facts) -> bool:
    """Whether an assignment binds a new array."""
    value = getattr(node, "value", None)
    if gives_several(node, facts) or is_new_of_step(node, facts) or node in facts.resolution.apart:
        return True
    if target(node) is None or isinstance(value, gast.Constant):
        return False
    if facts.values.spec[node].scalar and not makes_rank_zero(node.value, facts):
        return False
    if _is_display(node.value):
        return False  # [0.0] * n
    return is_fresh(node, facts)


def definite_assignment(function: Node, facts: Facts) -> Node:
    """Refuse reads of a name that only one branch has bound and that nothing looks at; a loop is taken to run.

    Looks at names that are bound go: a callee that is written out may have lost branches.
    """
    order = statements(function.body)
    local = {s for n in order for s in stores(n)} - set(parameters(function))
    _refuse_module_writes(function, local, facts)
    looks = {node: one for node in order if (one := _name_looked_at(node))}
    looked = dict.fromkeys(looks.values())
    starts = {node: held for node in order if (held := target(node)) in looked and _binds_none(node)}
    doubts = _Doubts(frozenset(local), starts)
    doubts.block(function.body, frozenset(parameters(function)), {})
    for node, names in doubts.reads.items():
        if node not in looks:
            raise facts.refuse(
                node,
                "E5011",
                f"`{names[0]}` may be unbound here: not every branch before binds it",
                f"bind `{names[0]}` before the branch, or in each of its sides",
            )
    unsure = {looks[node] for node in doubts.reads}
    idle = {node for node, one in (looks | starts).items() if one not in unsure}
    if idle:
        function.body = rewrite_statements(function.body, lambda node: [] if node in idle else [node])
    return function


def _name_looked_at(node: Node) -> str:
    """y of `if y is None: raise UnboundLocalError("local variable 'y' is not bound")`; "" for any other statement."""
    if not isinstance(node, gast.If) or not isinstance(node.test, gast.Compare) or node.orelse or len(node.body) != 1:
        return ""
    raised, held = getattr(node.body[0], "exc", None), node.test.left
    message = raised.args[0] if isinstance(raised, gast.Call) and raised.args else None
    said = message.value if isinstance(message, gast.Constant) else ""
    ours = isinstance(held, gast.Name) and isinstance(said, str) and said.endswith(_UNBOUND.partition("{}")[2])
    return held.id if ours else ""


def _refuse_module_writes(function: Node, local: set[str], facts: Facts) -> None:
    """Refuse writes into arrays and lists of the module, which the function itself binds nowhere."""
    own = bound_names(statements(function.body))
    for node in statements(function.body):
        for array in written_names(node):
            if array in local - own:
                raise facts.refuse(
                    node,
                    "E5010",
                    f"`{array}` belongs to the module, and others may read what is written into it",
                    f"pass `{array}` as an argument and return it, or write into a copy of it",
                )


_Sides = tuple[frozenset[str], frozenset[str]]  # names bound where a test holds, and where it does not


@record
class _Doubts:
    """One walk over a function: where a name is read that may be unbound, as Python would find; loops are taken to run.

    `tests` keeps, of a test that later statements may ask again, what either of its sides has bound.
    """

    local: frozenset[str]
    starts: dict[Node, str] = field(default_factory=dict)  # `y = None`, which we wrote, and is no binding here
    reads: dict[Node, list[str]] = field(default_factory=dict)  # of a statement, the names that may be unbound
    asked_again: dict[str, None] = field(default_factory=dict)  # names that are bound because a test is asked again

    def block(self, block: Block, known: frozenset[str], tests: dict[str, _Sides]) -> frozenset[str]:
        """Names bound at the end of a block."""
        for node in block:
            known, tests = self.statement(node, known, tests)
        return known

    def statement(
        self, node: Node, known: frozenset[str], tests: dict[str, _Sides]
    ) -> tuple[frozenset[str], dict[str, _Sides]]:
        """Names bound after a statement, and the tests that still hold."""
        unsure = [one for one in dict.fromkeys(loads(node)) if one in self.local and one not in known]
        if unsure:
            self.reads[node] = unsure
        if node not in self.starts:
            known = known | frozenset([*stores(node), *unsure])
        changed = _changed_names(node)
        tests = {asked: held for asked, held in tests.items() if changed.isdisjoint(asked.split())}
        if isinstance(node, gast.If):
            return self.branch(node, known, tests)
        if isinstance(node, gast.For | gast.While):
            return self.block(node.body, known, tests), tests
        return known, tests

    def branch(
        self, node: Node, known: frozenset[str], tests: dict[str, _Sides]
    ) -> tuple[frozenset[str], dict[str, _Sides]]:
        """Names bound after an `if`: by both sides that go on."""
        asked = _lasting_test(node.test)
        held = tests.get(asked, (known, known))
        self.asked_again.update(dict.fromkeys(sorted((held[0] | held[1]) - known)))
        ends = [
            self.block(side, known | more, tests) for side, more in zip((node.body, node.orelse), held, strict=True)
        ]
        if asked and _changed_names(node).isdisjoint(asked.split()):
            tests = {**tests, asked: (ends[0] | held[0], ends[1] | held[1])}
        going = [end for end, side in zip(ends, (node.body, node.orelse), strict=True) if not _raises(side)]
        return (frozenset.intersection(*going) if going else known), tests


def _raises(block: Block) -> bool:
    """Whether a block ends in `raise`."""
    return bool(block) and isinstance(block[-1], gast.Raise)


def _changed_names(node: Node) -> frozenset[str]:
    """Names that a statement, or one within it, binds or may write into."""
    inner = statements([node])
    called = [one for each in inner if isinstance(each, gast.Expr) for one in loads(each)]
    return frozenset([*(one for each in inner for one in stores(each)), *called])


def _lasting_test(test: Node) -> str:
    """The names and the text of a test that gives the same until one of its names changes; "" for others."""
    parts = list(walk(test))
    if not all(isinstance(one, _OF_TESTS) for one in parts):
        return ""
    return " ".join([*sorted({one.id for one in parts if isinstance(one, gast.Name)}), "|", gast.unparse(test)])


_OF_TESTS = (
    gast.Name
    | gast.Constant
    | gast.Compare
    | gast.BoolOp
    | gast.UnaryOp
    | gast.cmpop
    | gast.boolop
    | gast.Not
    | gast.Load
)


def unbound_names(function: Node, facts: Facts) -> Node:
    """Look at a name where it is read, if only some branches have bound it: Python raises there.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(x):\\n    if x > 1.0:\\n        y = x * x\\n    return x * y"
    >>> print(explain_text(text, after="unbound_names"))
    def f(x):
        y = None
        if x > 1.0:
            y = x * x
        if y is None:
            raise UnboundLocalError("local variable 'y' is not bound")
        return x * y
    """
    _raise_where_never_bound(function, facts)
    local = bound_names(statements(function.body)) - facts.names.around - set(parameters(function))
    doubts = _doubts_of(function, local)
    while apart := _choices_in_doubt(doubts):
        function.body = rewrite_statements(function.body, partial(_chosen_apart, apart, facts))
        doubts = _doubts_of(function, local)
    order = statements(function.body)
    left = {one for node in order for one in stores(node) if _binds_none(node)}
    left |= {
        n.id for node in order if isinstance(node, gast.FunctionDef) for n in walk(node) if isinstance(n, gast.Name)
    }
    for node, names in doubts.reads.items():
        left |= set(names).difference(one for part in header(node) for one in read_always(part))
    found = dict.fromkeys([*doubts.asked_again, *(one for names in doubts.reads.values() for one in names)])
    looked = {node: [one for one in names if one not in left] for node, names in doubts.reads.items()}
    function.body = rewrite_statements(function.body, lambda node: [*_looks(node, looked.get(node, []), facts), node])
    for one in found:
        if one not in left:
            _start(one, function.body, facts)
    return function


def _raise_where_never_bound(function: Node, facts: Facts) -> None:
    """Python's error in the place of a statement that reads a name which only branches bound that are never taken."""
    order = statements(function.body)
    known = [*parameters(function), *parameters(facts.source.tree), *facts.names.functions, *facts.names.around]
    known += [one for node in statements(facts.source.tree.body) if isinstance(node, gast.Global) for one in node.names]
    branches = [n for n in statements(facts.source.tree.body) if isinstance(n, gast.If)]
    inside = dict.fromkeys(n for one in branches for n in statements([*one.body, *one.orelse]))
    elsewhere = bound_names(n for n in statements(facts.source.tree.body) if n not in inside or holds(n, gast.Lambda))
    lost = bound_names(inside) - elsewhere - bound_names(order) - set(known)

    def raised(node: Node) -> Block:
        names = [one for part in header(node) for one in dict.fromkeys(read_always(part)) if one in lost]
        if not names or isinstance(node, gast.Return):
            return [node]
        made = statement(f"raise UnboundLocalError({_UNBOUND.format(names[0])!r})")
        return [own_statement(made, node, facts)]

    if lost and any(one in lost for node in order for one in loads(node)):
        function.body = rewrite_statements(function.body, raised)


def _binds_none(node: Node) -> bool:
    """Whether a statement is `y = None`: what is written into is never that."""
    value = getattr(node, "value", None)
    return isinstance(node, gast.Assign) and isinstance(value, gast.Constant) and value.value is None


def _doubts_of(function: Node, local: set[str]) -> _Doubts:
    """What reads a name that may be unbound there."""
    doubts = _Doubts(frozenset(local))
    doubts.block(function.body, frozenset(parameters(function)), {})
    return doubts


def _choices_in_doubt(doubts: _Doubts) -> list[Node]:
    """`z = y if c else e`, of which only one side reads what may be unbound."""
    chosen = [n for n in doubts.reads if isinstance(n, gast.Assign) and isinstance(n.value, gast.IfExp)]
    return [n for n in chosen if not set(doubts.reads[n]) <= set(read_always(n))]


def _chosen_apart(chosen: list[Node], facts: Facts, node: Node) -> Block:
    """`z = y if c else e` as a branch, in which y is read where it is taken alone; any other statement as it is."""
    if node not in chosen:
        return [node]
    sides = []
    for value in (node.value.body, node.value.orelse):
        bound = copy(node)
        bound.value = value
        sides.append([own_statement(bound, node, facts)])
    return [own_statement(gast.If(node.value.test, *sides), node, facts)]


def _looks(node: Node, names: list[str], facts: Facts) -> Block:
    """`if y is None: raise UnboundLocalError(...)` for each name."""
    made = [statement(f"if {one} is None:\n    raise UnboundLocalError({_UNBOUND.format(one)!r})") for one in names]
    for look in made:
        for part in [*look.body, look]:
            own_statement(part, node, facts)
    return made


_UNBOUND = "local variable '{}' is not bound"


def _start(bound: str, block: Block, facts: Facts) -> None:
    """`y = None` in the innermost block that has all statements of y, before the first; none in a loop."""
    places = [k for k, node in enumerate(block) if _has_name(bound, [node])]
    first = block[places[0]]
    sides = [side for side in (getattr(first, "body", []), getattr(first, "orelse", [])) if _has_name(bound, side)]
    if len(places) == len(sides) == 1 and isinstance(first, gast.If) and bound not in loads(first):
        return _start(bound, sides[0], facts)
    made = gast.Assign([name(bound, gast.Store())], gast.Constant(None, None), None)
    return block.insert(places[0], own_statement(made, first, facts))


def _has_name(bound: str, block: Block) -> bool:
    """Whether a block reads or binds a name."""
    return any(bound in (*loads(node), *stores(node)) for node in statements(block))
