"""What a loop runs over, held before it begins: ranges with fixed bounds, rows of a named array."""

from __future__ import annotations

import gast

from srcgrad.front.flat import compute, spread_varied
from srcgrad.front.resolve import binding_of
from srcgrad.front.scope import Scope, cheap
from srcgrad.trees import Block, Node, assign, at, is_write, name, statements, stores, walk, written


def prepare(node: Node, scope: Scope) -> Block:
    """Name what a loop runs over, as it is before the loop; the statements that its body begins with."""
    if isinstance(node.target, gast.Tuple):
        raise scope.facts.refuse(
            node.target,
            "E5005",
            "a loop over tuples is not accepted",
            "loop over an index: `for i in range(len(xs))`, and read the parts in the body",
        )
    changed = {s for n in statements([node]) for s in stores(n)}
    if _is_range(node.iter, scope):
        _spell_plainly(node.iter, scope)
        node.iter = _frozen(node, scope, changed)
    elif _is_iterator(node.iter, scope):
        raise scope.facts.refuse(
            node.iter,
            "E5005",
            "a loop over an iterator is not accepted",
            "loop over an index: `for i in range(len(xs))`, and read the items in the body",
        )
    elif not isinstance(node.iter, gast.Name) or node.iter.id in changed:
        held = scope.temporary()
        spread_varied(held, node.iter, scope)
        compute(held, node.iter, scope)
        node.iter = name(held)
    return _counter(node, scope)


def _counter(node: Node, scope: Scope) -> Block:
    """A loop variable that the body binds anew starts from a name that it does not."""
    bound = node.target.id
    if not any(bound in stores(inner) for inner in statements(node.body)):
        return []
    counter = scope.facts.names.numbered(scope.facts.base.get(bound, bound))
    scope.facts.base.setdefault(counter, scope.facts.base.get(bound, bound))
    spread_varied(counter, node.iter, scope)
    node.target = name(counter, gast.Store())
    start = at(assign(bound, name(counter)), node)
    return [start]


def _is_iterator(node: Node, scope: Scope) -> bool:
    found = binding_of(node.func, scope.facts, scope.local) if isinstance(node, gast.Call) else None
    return found is not None and found.object in (reversed, zip, enumerate, map, filter, iter)


def _spell_plainly(node: Node, scope: Scope) -> None:
    """`range(n)` for `builtins.range(n)`: later passes know it by this name, which `subset` keeps for it."""
    while isinstance(node, gast.Call):
        found = binding_of(node.func, scope.facts, scope.local)
        if found is None or found.object not in (range, reversed):
            return
        node.func = at(name(found.object.__name__), node.func)
        node = node.args[0] if node.args else None


def _frozen(node: Node, scope: Scope, changed: set[str]) -> Node:
    """The bounds of a loop, as they are before it: what the body changes, or a call, is held in a name."""
    inner = node.iter if node.iter.func.id != "reversed" else node.iter.args[0]
    for position, bound in enumerate(inner.args):
        names = {n.id for n in walk(bound) if isinstance(n, gast.Name)}
        if _is_of_shape(bound):  # which no write into the array changes
            names -= {s for n in statements([node]) for s in written(n)} - _rebound(node)
        if (not cheap(bound) and not _is_length(bound, names & changed)) or names & changed:
            held = scope.temporary()
            scope.emit(assign(held, bound))
            inner.args[position] = name(held)
    return node.iter


def _is_of_shape(bound: Node) -> bool:
    """`x.shape[0]`, `x.size`."""
    inner = bound.value if isinstance(bound, gast.Subscript) else bound
    return isinstance(inner, gast.Attribute) and inner.attr in ("shape", "size") and isinstance(inner.value, gast.Name)


def _rebound(loop: Node) -> set[str]:
    return {s for n in statements([loop]) if not is_write(n) for s in stores(n)}


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
