"""What a statement changes while it is evaluated: nothing else in it may read that."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import gast

from srcgrad.front.changing import CHANGES
from srcgrad.front.functions import function_of
from srcgrad.front.straight import is_straight
from srcgrad.trees import COMPOUND, Node, header, is_write, root, statements, walk

if TYPE_CHECKING:
    from srcgrad.facts import Facts


def check_sequence(node: Node, facts: Facts) -> None:
    """Refuse a part of a statement that changes what another part of it reads: passes may move either."""
    parts = header(node) if isinstance(node, COMPOUND) else [node]
    items = [item for part in parts for item in walk(part)]
    for effect in [i for i in items if isinstance(i, gast.Call | gast.NamedExpr)]:
        changed = _changed(effect, facts)
        if not changed:
            continue
        inside = {id(n) for n in walk(effect)}
        others = [i for i in items if id(i) not in inside]
        if effect is getattr(node, "value", None) and isinstance(node, gast.Assign | gast.Expr):
            others = [i for t in getattr(node, "targets", []) for i in _places(t)]  # it comes last but for the store
        elif isinstance(effect, gast.NamedExpr):
            others = [i for i in others if isinstance(i, gast.Call) and _place(i) < _place(effect)]
            if not any(changed & _reads(i, facts, ()) for i in others if isinstance(i, gast.Call)):
                continue
        read = {i.id for i in others if isinstance(i, gast.Name)}
        read |= {
            n for i in others if isinstance(i, gast.Call) and not _comes_in_turn(i, facts) for n in _reads(i, facts, ())
        }
        for one in sorted(changed & read):
            raise facts.refuse(
                effect,
                "E5010",
                f"`{one}` changes while the statement that reads it is evaluated",
                "make it a statement of its own: `t = ...`",
            )


def _comes_in_turn(call: Node, facts: Facts) -> bool:
    """Whether a call is written out before the statement, behind those before it: it changes names around it itself."""
    found = function_of(call.func, facts, facts.local)
    tree = None if found is None else found.tree
    return tree is not None and not is_straight(tree) and bool(outer_changes(tree, facts))


def check_targets(node: Node, facts: Facts) -> None:
    """`i = a[i] = e` binds the first i before it looks for the place."""
    if isinstance(node, gast.For) and any(isinstance(n, gast.Subscript | gast.Attribute) for n in walk(node.target)):
        raise facts.refuse(node.target, "E5005", "a loop that binds a part of something", "bind a name, and store that")
    bound: set[str] = set()
    for target in getattr(node, "targets", []):
        read = {i.id for i in _places(target) if isinstance(i, gast.Name)}
        if bound & read:
            raise facts.refuse(
                target, "E5005", "a target that reads what the same statement binds", "use two statements"
            )
        bound |= {n.id for n in walk(target) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)}


def _places(target: Node) -> list[Node]:
    """What the indices of a target read."""
    return [n for part in walk(target) if isinstance(part, gast.Subscript) for n in walk(part.slice)]


def _place(node: Node) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _changed(effect: Node, facts: Facts) -> set[str]:
    """Names whose values, or contents, an expression changes."""
    if isinstance(effect, gast.NamedExpr):
        return {effect.target.id}
    if isinstance(effect.func, gast.Attribute) and effect.func.attr in CHANGES:
        known = facts.of.get(effect.func.value)
        if known is not None and known.tag == "tuple":
            return set()  # a method of a NamedTuple's own
        held = effect.func.value.id if isinstance(effect.func.value, gast.Name) else ""
        return {held} & facts.local
    found = function_of(effect.func, facts, facts.local)
    return outer_changes(found.tree, facts) if found is not None and found.tree is not None else set()


def changes_outside(tree: Node, facts: Facts) -> bool:
    """Whether a nested function binds names of the function around it, or writes into arrays."""
    return bool(outer_changes(tree, facts)) or any(is_write(n) for n in statements(tree.body))


def outer_changes(tree: Node, facts: Facts) -> set[str]:
    """Names around it that a nested function binds, or changes the contents of: np.sort(x) changes no np."""
    own = _own(tree)
    found: set[str] = set()
    for node in walk(tree):
        if isinstance(node, gast.Nonlocal):
            found.update(node.names)
        elif isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr in CHANGES:
            found.update({node.func.value.id} - own if isinstance(node.func.value, gast.Name) else ())
        elif isinstance(node, gast.Assign | gast.AugAssign):
            places = node.targets if isinstance(node, gast.Assign) else [node.target]
            bases = [root(place) for place in places if isinstance(place, gast.Subscript | gast.Attribute)]
            found.update(base.id for base in bases if base is not None and base.id not in own)
    return {one for one in found if one in facts.local or not _is_module(one, facts)}


def _is_module(name: str, facts: Facts) -> bool:
    found = facts.namespace.lookup(name)
    return found is not None and isinstance(found.object, ModuleType)


def _reads(call: Node, facts: Facts, above: tuple[int, ...]) -> set[str]:
    """Names of the function around it that a call of a nested function reads."""
    found = function_of(call.func, facts, facts.local)
    if found is None or found.tree is None or id(found.tree) in above:
        return set()
    own = _own(found.tree)
    names = {n.id for n in walk(found.tree) if isinstance(n, gast.Name)} - own
    inner = [n for n in walk(found.tree) if isinstance(n, gast.Call)]
    return names.union(*(_reads(n, facts, (*above, id(found.tree))) for n in inner))


def _own(tree: Node) -> set[str]:
    arguments = tree.args
    names = {a.id for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
    outer = {n for node in walk(tree) if isinstance(node, gast.Nonlocal) for n in node.names}
    body = tree.body if isinstance(tree.body, list) else []
    return (names | {s for node in body for n in walk(node) for s in _bound(n)}) - outer


def _bound(node: Node) -> list[str]:
    return [node.id] if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store) else []
