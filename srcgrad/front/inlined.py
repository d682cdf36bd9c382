"""Calls of functions with source, written out: those that write into arguments, or all of them.

All are written out in a derivative that will be differentiated again.
"""

from __future__ import annotations

import inspect
from typing import Any  # called functions are arbitrary objects

import gast

from srcgrad.errors import DifferentiationError
from srcgrad.facts import Facts
from srcgrad.front.exits import exits
from srcgrad.front.namespace import Binding, Namespace
from srcgrad.front.overlay import Overlay
from srcgrad.front.plain import plain
from srcgrad.front.procedures import Procedures
from srcgrad.front.resolve import operation_of
from srcgrad.front.source import Source
from srcgrad.front.subset import subset
from srcgrad.names import Names
from srcgrad.trees import COMPOUND, Block, Node, assign, at, constant, copy, is_write, name, statements, stores, walk


def inlined(function: Node, facts: Facts) -> Node:
    """Write the bodies of called functions in place of the calls, if the module of text asks for it.

    Calls in tests and in conditional expressions stay, and so do recursive ones.
    """
    if facts.module is None:
        return function
    procedures = Procedures(facts)
    local = _local(function)
    calls = [n for node in function.body for n in walk(node) if isinstance(n, gast.Call)]
    if not facts.module.inline and not any(procedures.arguments(call, facts, local) for call in calls):
        return function
    facts.namespace = Overlay(facts.namespace)
    function.body = _block(function.body, facts, local, (id(facts.source.tree),))
    return function


def _local(function: Node) -> frozenset[str]:
    arguments = function.args
    names = {a.id for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs}
    return frozenset(names | {s for n in statements(function.body) for s in stores(n)})


def _block(block: Block, facts: Facts, local: frozenset[str], above: tuple[int, ...]) -> Block:
    made: Block = []
    for node in block:
        before: Block = []
        if isinstance(node, COMPOUND):
            node.body = _block(node.body, facts, local, above)
            node.orelse = _block(getattr(node, "orelse", None) or [], facts, local, above)
        elif isinstance(node, gast.Assign | gast.AugAssign | gast.Return):
            node.value = _expand(node.value, node, before, facts, local, above)
        elif isinstance(node, gast.Expr) and isinstance(node.value, gast.Call):
            if Procedures(facts).arguments(node.value, facts, local):
                made += _performed(node, facts, local, above)
                continue
        if before:
            facts.foreign[node] = None
        made += [*before, node]
    return made


def _performed(node: Node, facts: Facts, local: frozenset[str], above: tuple[int, ...]) -> Block:
    """The statements of a procedure that is called for what it writes."""
    before: Block = []
    value = _expand(node.value, node, before, facts, local, above)
    if value is node.value:
        raise facts.refuse(
            node, "E5005", "a recursive function that writes into its arguments is not accepted", "write it as a loop"
        )
    return before


def _expand(
    value: Node, where: Node, before: Block, facts: Facts, local: frozenset[str], above: tuple[int, ...]
) -> Node:
    if isinstance(value, gast.IfExp | gast.BoolOp | gast.Lambda | gast.JoinedStr):
        return value
    for key in value._fields:
        part = getattr(value, key, None)
        if isinstance(part, list):
            items = [_expand(p, where, before, facts, local, above) if isinstance(p, gast.AST) else p for p in part]
            setattr(value, key, items)
        elif isinstance(part, gast.AST) and part._fields:
            setattr(value, key, _expand(part, where, before, facts, local, above))
    if isinstance(value, gast.Call):
        operation = operation_of(value, facts, local)
        if operation is not None and operation.kind == "callee":
            if facts.module.inline or Procedures(facts).arguments(value, facts, local):
                return _written(value, operation.function, where, before, facts, above)
    return value


def _written(call: Node, function: Any, where: Node, before: Block, facts: Facts, above: tuple[int, ...]) -> Node:
    """The value of a call as a name; the statements that compute it go to `before`."""
    try:
        source, namespace = facts.module.source(function)
    except DifferentiationError:
        return call  # refused later, if a derivative flows through it
    if id(source.tree) in above:
        return call
    tree = copy(source.tree)
    if not isinstance(tree.body[-1], gast.Return) and isinstance(where, gast.Expr):
        tree.body.append(at(gast.Return(constant(0.0)), tree))
    taken = facts.names.taken | {n.id for n in walk(tree) if isinstance(n, gast.Name)}
    inner = Facts(source, Overlay(namespace), facts.mode, (), names=Names(sorted(taken)), module=facts.module)
    inner.generated = source.file.startswith("<srcgrad ")
    inner.local = _local(tree)
    exits(subset(plain(tree, inner), inner), inner)
    facts.generated = facts.generated or inner.generated
    tree.body = _block(tree.body, inner, _local(tree), (*above, id(source.tree)))
    facts.names.taken |= inner.names.taken
    spelled = _spelled(tree, inner, facts)
    _bind(call, tree, function, spelled, where, before, facts)
    for node in tree.body:
        for item in walk(node):
            if isinstance(item, gast.Name):
                item.id = spelled.get(item.id, item.id)
            at(item, where)
        for item in statements([node]):
            facts.foreign[item] = None
    result = facts.names.fresh(f"{source.name}_value")
    last = tree.body[-1]
    before += tree.body[:-1]
    if not isinstance(where, gast.Expr):
        before.append(at(assign(result, last.value), where))
        facts.foreign[before[-1]] = None
    assert isinstance(facts.namespace, Overlay), "an overlay was put there"
    facts.namespace.parts += [(namespace, source), *_parts(inner.namespace)]
    return at(name(result), call)


def _parts(namespace: Namespace) -> list[tuple[Namespace, Source]]:
    return namespace.parts if isinstance(namespace, Overlay) else []


def _spelled(tree: Node, inner: Facts, facts: Facts) -> dict[str, str]:
    """New names for the callee's locals, and for what its global names mean."""
    local = _local(tree)
    found: dict[str, str] = {}
    assert isinstance(facts.namespace, Overlay), "an overlay was put there"
    for item in [n for s in tree.body for n in walk(s) if isinstance(n, gast.Name)]:
        if item.id in found:
            continue
        if item.id in local:
            taken = item.id in facts.names.taken
            found[item.id] = facts.names.numbered(item.id) if taken else facts.names.fresh(item.id)
            continue
        meant, known = inner.namespace.lookup(item.id), facts.namespace.lookup(item.id)
        if meant is None or _is_same(meant, known):
            found[item.id] = item.id
        else:
            found[item.id] = facts.names.numbered(item.id)
            facts.namespace.extra[found[item.id]] = meant
    return found


def _is_same(one: Binding, two: Binding | None) -> bool:
    """Whether a name means the same in both namespaces; two values known as text are the same in one module only."""
    if two is None or one.kind != two.kind:
        return False
    if one.kind == "object":
        return one.object is two.object
    return one.static is two.static and one.module is two.module and one.expression == two.expression


def _bind(
    call: Node, tree: Node, function: Any, spelled: dict[str, str], where: Node, before: Block, facts: Facts
) -> None:
    """Assign the arguments, and the defaults of those not given, to the callee's parameters."""
    arguments = tree.args
    positional = [a.id for a in arguments.posonlyargs + arguments.args]
    every = positional + [a.id for a in arguments.kwonlyargs]
    given = dict(zip(positional, call.args, strict=False)) | {w.arg: w.value for w in call.keywords}
    if len(call.args) > len(positional) or any(n not in every for n in given):
        raise facts.refuse(
            call, "E5005", "the arguments do not fit the function's parameters", f"it takes: {', '.join(every)}"
        )
    changes = Procedures(facts).changed(function)
    for parameter in every:
        bound = spelled.get(parameter)
        if _shares_name(parameter, given.get(parameter), tree, parameter in changes, call, facts):
            spelled[parameter] = given[parameter].id
            continue
        if bound is None:
            bound = spelled[parameter] = facts.names.numbered(parameter)
        value = given.get(parameter)
        if value is None:
            value = _default(parameter, tree, function, facts)
        if value is None:
            raise facts.refuse(
                call, "E5005", f"the argument `{parameter}` is missing", f"the function takes: {', '.join(every)}"
            )
        made = at(assign(bound, value), where)
        facts.foreign[made] = None
        before.append(made)


def _shares_name(parameter: str, value: Node | None, tree: Node, changes: bool, call: Node, facts: Facts) -> bool:
    """Whether a parameter goes by the name of its argument: one array, which the function may write into."""
    rebound = any(parameter in stores(n) and not is_write(n) for n in statements(tree.body))
    if isinstance(value, gast.Name) and not rebound:
        return True
    if changes:
        raise facts.refuse(
            value if value is not None else call,
            "E5010",
            f"the called function writes into its argument `{parameter}`, which is not an array with a name here",
            "bind the array to a name, pass that, and do not bind the parameter anew in the function",
        )
    return False


def _default(parameter: str, tree: Node, function: Any, facts: Facts) -> Node | None:
    arguments = tree.args
    positional = arguments.posonlyargs + arguments.args
    pairs = dict(
        zip([a.id for a in positional][len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True)
    )
    pairs |= dict(zip([a.id for a in arguments.kwonlyargs], arguments.kw_defaults, strict=True))
    written = pairs.get(parameter)
    if written is None or isinstance(written, gast.Constant) or not callable(function):
        return written
    held = facts.names.numbered(f"{parameter}_default")
    assert isinstance(facts.namespace, Overlay), "an overlay was put there"
    facts.namespace.extra[held] = Binding("object", inspect.signature(function).parameters[parameter].default)
    return name(held)
