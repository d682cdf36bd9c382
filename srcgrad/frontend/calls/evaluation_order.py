"""Order of evaluation: what a statement changes while it is evaluated.

Functions of a few straight lines, which are written out where they are called.

What a statement changes while it is evaluated: nothing else in it may read that.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

import gast

from srcgrad.core.trees import COMPOUND, Node, header, is_write, root, statements, walk
from srcgrad.frontend.calls.functions import function_of
from srcgrad.frontend.context import CHANGES

if TYPE_CHECKING:
    from srcgrad.core.facts import Facts


_FEW = 24  # operations beyond which a function is better read under its own name
_PARTS = (
    gast.Name,
    gast.Attribute,
    gast.Constant,
    gast.BinOp,
    gast.UnaryOp,
    gast.Compare,
    gast.Call,
    gast.keyword,
    gast.Subscript,
    gast.Slice,
    gast.Tuple,
    gast.expr_context,
    gast.operator,
    gast.unaryop,
    gast.cmpop,
)
_TAKES = ("pop", "popitem", "setdefault", "next")  # what they are called on is another list, dict or iterator then
_OPERATIONS = (gast.BinOp, gast.UnaryOp, gast.Compare, gast.Call)


def is_straight(tree: Node) -> bool:
    """Whether a function binds names to the values of a few expressions, and returns the last."""
    first = tree.body[0]
    documented = isinstance(first, gast.Expr) and isinstance(first.value, gast.Constant)
    *bindings, last = tree.body[documented:] or [None]
    if not isinstance(last, gast.Return) or last.value is None or tree.decorator_list:
        return False
    for node in bindings:
        if not isinstance(node, gast.Assign) or not all(isinstance(one, gast.Name) for one in node.targets):
            return False
    parts = [part for node in [*bindings, last] for part in walk(node.value)]
    if isinstance(last.value, gast.Tuple) or not all(isinstance(part, _PARTS) for part in parts):
        return False
    return operations(tree) <= _FEW


def operations(tree: Node) -> int:
    """How many operations a function has."""
    return sum(isinstance(part, _OPERATIONS) for node in tree.body for part in walk(node))


def put_in(given: dict[str, Node], tree: Node, is_function: Callable[[Node], bool]) -> dict[str, Node]:
    """What stands where a straight function reads a parameter: names, numbers, and for one reader what has no call."""
    if not is_straight(tree):
        return {}
    found = {}
    called = [n.func for node in tree.body for n in walk(node) if isinstance(n, gast.Call)]
    takes = any(getattr(one, "attr", getattr(one, "id", "")) in _TAKES for one in called)
    for parameter, value in given.items():
        places = [n for node in tree.body for n in walk(node) if isinstance(n, gast.Name) and n.id == parameter]
        once = not takes and len(places) == 1 and not any(isinstance(n, gast.Call) for n in walk(value))
        displayed = isinstance(value, gast.Tuple | gast.List | gast.Dict | gast.Starred)
        if displayed or is_function(value) or any(isinstance(n.ctx, gast.Store) for n in places):
            continue
        if once or isinstance(value, gast.Name | gast.Constant):
            found[parameter] = value
            for each in places:
                each.id = place(parameter)
    return found


def place(parameter: str) -> str:
    """What stands where an argument will be: no name that a text can have."""
    return f"({parameter})"


def check_sequence(node: Node, facts: Facts) -> None:
    """Refuse a part of a statement that changes what another part of it reads: passes may move either."""
    parts = header(node) if isinstance(node, COMPOUND) else [node]
    items = [item for part in parts for item in walk(part)]
    for effect in [i for i in items if isinstance(i, gast.Call | gast.NamedExpr)]:
        changed = _names_changed(effect, facts)
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


def _names_changed(effect: Node, facts: Facts) -> set[str]:
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
    own = _local_names(tree)
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
    own = _local_names(found.tree)
    names = {n.id for n in walk(found.tree) if isinstance(n, gast.Name)} - own
    inner = [n for n in walk(found.tree) if isinstance(n, gast.Call)]
    return names.union(*(_reads(n, facts, (*above, id(found.tree))) for n in inner))


def _local_names(tree: Node) -> set[str]:
    arguments = tree.args
    names = {a.id for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
    outer = {n for node in walk(tree) if isinstance(node, gast.Nonlocal) for n in node.names}
    body = tree.body if isinstance(tree.body, list) else []
    return (names | {s for node in body for n in walk(node) for s in _bound_name(n)}) - outer


def _bound_name(node: Node) -> list[str]:
    return [node.id] if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store) else []
