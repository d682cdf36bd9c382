"""One operation per statement, on names and literals: the form that analysis and derivation work on."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts
from srcgrad.front.flat import atom, compute, passive_calls, spread_varied
from srcgrad.front.resolve import binding_of, effects
from srcgrad.front.scope import Scope, cheap
from srcgrad.front.varied import varied_names
from srcgrad.front.webs import parameters
from srcgrad.trees import Block, Node, assign, name, statements, stores, walk, written


def normalise(function: Node, facts: Facts) -> Node:
    """Name every intermediate value; what cannot be active stays as it is written.

    >>> from srcgrad.explain import explain_text
    >>> print(explain_text("def f(x, n):\\n    return np.sin(x * x) + n ** 2", after="normalise"))
    def f(x, n):
        t1 = x * x
        t2 = np.sin(t1)
        y = t2 + n**2
        return y
    """
    local = frozenset(parameters(function)) | {s for n in statements(function.body) for s in stores(n)}
    facts.varied = dict.fromkeys(varied_names(function, facts, local))
    scope = Scope(facts, local)
    function.body = _block(function.body, scope)
    return function


def _block(block: Block, scope: Scope) -> Block:
    outer, scope.block = scope.block, []
    for node in block:
        user, scope.user = scope.user, scope.facts.origin.get(node, node)
        _statement(node, scope)
        scope.user = user
    made, scope.block = scope.block, outer
    return made


def _statement(node: Node, scope: Scope) -> None:
    if isinstance(node, gast.Assign):
        _assignment(node, scope)
    elif isinstance(node, gast.If | gast.While):
        if scope.facts.generated and isinstance(node.test, gast.Call) and isinstance(node, gast.If):
            held = scope.temporary()  # taken_stack.pop()
            scope.emit(assign(held, node.test))
            node.test = name(held)
        passive_calls(node.test, scope)
        node.body = _block(node.body, scope)
        node.orelse = _block(node.orelse, scope)
        scope.block.append(node)
    elif isinstance(node, gast.For):
        _loop(node, scope)
    elif isinstance(node, gast.Return):
        scope.emit(gast.Return(_result(node.value, scope)))
    elif isinstance(node, gast.Expr):
        _effect(node, scope)
    elif isinstance(node, gast.AugAssign):
        node.value = atom(node.value, scope)
        scope.emit(node)
    elif not isinstance(node, gast.Pass | gast.AnnAssign):
        scope.block.append(node)


def _effect(node: Node, scope: Scope) -> None:
    if isinstance(node.value, gast.Constant):
        return
    if scope.facts.generated and written(node):
        node.value.args[-1] = atom(node.value.args[-1], scope)
        scope.emit(node)
        return
    if not effects(node.value, scope.facts, scope.local):
        raise scope.facts.refuse(
            node,
            "E5005",
            "a call whose result is not used is not accepted: it may change its arguments",
            "bind the result to a name; print, warnings and logging are accepted",
        )
    scope.facts.effects[node] = None
    scope.block.append(node)


def _loop(node: Node, scope: Scope) -> None:
    if isinstance(node.target, gast.Tuple):
        raise scope.facts.refuse(
            node.target,
            "E5005",
            "a loop over tuples is not accepted",
            "loop over an index: `for i in range(len(xs))`, and read the parts in the body",
        )
    if _is_range(node.iter, scope):
        node.iter = _frozen(node, scope)
    if scope.varied(node.iter) and not isinstance(node.iter, gast.Name) and not _is_range(node.iter, scope):
        held = atom(node.iter, scope)
        node.iter = held
    node.body = _block(node.body, scope)
    scope.block.append(node)


def _frozen(node: Node, scope: Scope) -> Node:
    """The bounds of a loop, as they are before it: what the body changes, or a call, is held in a name."""
    changed = {s for n in statements([node]) for s in stores(n)}
    inner = node.iter if node.iter.func.id != "reversed" else node.iter.args[0]
    for position, bound in enumerate(inner.args):
        names = {n.id for n in walk(bound) if isinstance(n, gast.Name)}
        if not cheap(bound) and not _is_length(bound, names & changed) or names & changed:
            held = scope.temporary()
            scope.emit(assign(held, bound))
            inner.args[position] = name(held)
    return node.iter


def _is_length(bound: Node, changed: set[str]) -> bool:
    """`len(x)`, which may as well be read again."""
    return (
        isinstance(bound, gast.Call)
        and isinstance(bound.func, gast.Name)
        and bound.func.id == "len"
        and isinstance(bound.args[0], gast.Name)
        and not changed
    )


def _is_range(node: Node, scope: Scope) -> bool:
    if not isinstance(node, gast.Call):
        return False
    found = binding_of(node.func, scope.facts, scope.local)
    if found is None or found.object is not reversed:
        return found is not None and found.object is range
    return _is_range(node.args[0], scope)


def _assignment(node: Node, scope: Scope) -> None:
    first = node.targets[0]
    if len(node.targets) > 1:
        held = atom(node.value, scope)
        for item in node.targets:
            _bind(item, held, scope)
    elif isinstance(first, gast.Tuple | gast.List) and isinstance(node.value, gast.Tuple | gast.List):
        if len(first.elts) == len(node.value.elts):
            _parallel(first, node.value, scope)
            return
        raise scope.facts.refuse(node, "E5005", "wrong number of values to unpack", "match the two sides")
    elif isinstance(first, gast.Name):
        compute(first.id, node.value, scope)
        if node in scope.facts.augmented and scope.block:
            scope.facts.augmented[scope.block[-1]] = None
    else:
        _bind(first, atom(node.value, scope), scope)


def _parallel(names: Node, values: Node, scope: Scope) -> None:
    """`a, b = e, f`: all right sides before any name is bound."""
    written = {n.id for n in walk(names) if isinstance(n, gast.Name)}
    held = []
    for value in values.elts:
        if isinstance(value, gast.Name) and value.id in written:
            keep = scope.temporary()
            scope.emit(assign(keep, name(value.id)))
            spread_varied(keep, value, scope)
            held.append(name(keep))
        else:
            held.append(atom(value, scope))
    for item, value in zip(names.elts, held, strict=True):
        _bind(item, value, scope)


def _bind(item: Node, value: Node, scope: Scope) -> None:
    if isinstance(item, gast.Name):
        scope.emit(assign(item.id, value))
        return
    flat = gast.Tuple(elts=[], ctx=gast.Store())
    inner = []
    for part in item.elts:
        if isinstance(part, gast.Name):
            flat.elts.append(name(part.id, gast.Store()))
        else:
            held = scope.temporary()
            flat.elts.append(name(held, gast.Store()))
            spread_varied(held, value, scope)
            inner.append((part, held))
    scope.emit(gast.Assign([flat], value, None))
    for part, held in inner:
        _bind(part, name(held), scope)


def _result(value: Node, scope: Scope) -> Node:
    """The returned value as a name, or a tuple of names."""
    if isinstance(value, gast.Tuple):
        return gast.Tuple(elts=[_named(item, scope, "t") for item in value.elts], ctx=gast.Load())
    return _named(value, scope, "y")


def _named(value: Node, scope: Scope, stem: str) -> Node:
    if isinstance(value, gast.Name) and value.id in scope.local:
        return value
    held = scope.temporary() if stem == "t" else scope.facts.names.fresh("y")
    scope.facts.temporaries[held] = stem
    spread_varied(held, value, scope)
    compute(held, value, scope)
    return name(held)
