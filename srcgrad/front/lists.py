"""Lists and dicts that the function fills: which names hold them, and how their methods are spelled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gast

from srcgrad.facts import Facts
from srcgrad.front.builtin_names import builtin_name
from srcgrad.front.changing import is_change
from srcgrad.front.list_names import kind_of_list, kinds_of_lists, mixed
from srcgrad.front.portions import portions
from srcgrad.front.webs import separate
from srcgrad.trees import (
    Block,
    Node,
    constant,
    copy,
    expression,
    is_write,
    name,
    part_written,
    statement,
    statements,
    target,
    walk,
    written,
)

if TYPE_CHECKING:
    from srcgrad.front.plain import Plain


def lists(function: Node, facts: Facts) -> Node:
    """Find the names that hold nothing but lists, or dicts, which this function made."""
    names = mixed(function, facts)
    if names:
        separate(function, facts, names)
    facts.lists = kinds_of_lists(function, facts)
    if facts.generated:
        portions(function, facts)
    for node in statements(function.body):
        if is_write(node) and not isinstance(part_written(node).value, gast.Name) and written(node)[0] in facts.lists:
            raise facts.refuse(
                part_written(node),
                "E5010",
                f"a write into an item of an item of `{written(node)[0]}`",
                "use an array with two axes, or make the inner item anew and store that",
            )
        if is_write(node) and isinstance(part_written(node).slice, gast.Slice) and written(node)[0] in facts.lists:
            raise facts.refuse(part_written(node), "E5005", "a write into a slice of a list", "write item by item")
    return function


def changed_list(node: Node, work: Plain) -> Block | None:
    """A statement that changes a list, in terms of `append`, `pop` and `out[i] = e`; None for any other."""
    if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name) and isinstance(node.op, gast.Add):
        if work.lists.get(node.target.id) == "list":
            if not isinstance(node.value, gast.Tuple):
                _joins(node.value, node, work)
            return _extend(node.target.id, node.value, node, work)
        return None
    if isinstance(node, gast.Assign) and target(node) is not None:
        return _assigned(node, str(target(node)), work)
    if isinstance(node, gast.Delete) and len(node.targets) == 1 and isinstance(node.targets[0], gast.Subscript):
        part = node.targets[0]
        plain = not isinstance(part.slice, gast.Slice) and isinstance(part.value, gast.Name)
        if plain and work.lists.get(part.value.id) == "list":
            return _taken(part.value.id, part.slice, node, work)
        return None
    call = node.value if isinstance(node, gast.Expr) else None
    if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Attribute):
        return None
    held = call.func.value
    if not isinstance(held, gast.Name) or held.id not in work.lists:
        return None
    args = call.args
    if call.func.attr == "sort" and not args and work.lists[held.id] == "list":
        return _sorted(held.id, call.keywords, node, work)
    if call.keywords and call.func.attr == "update" and not args and all(word.arg for word in call.keywords):
        args = [gast.Dict([constant(word.arg) for word in call.keywords], [word.value for word in call.keywords])]
    elif call.keywords:
        return None
    return _method(held.id, call.func.attr, args, node, work)


def _method(held: str, method: str, args: list[Node], node: Node, work: Plain) -> Block | None:
    if work.lists[held] == "dict":
        if method == "update" and len(args) == 1 and isinstance(args[0], gast.Dict) and None not in args[0].keys:
            before, values = _first(held, args[0].values, node, work)
            return before + [_put(held, k, value, node, work) for k, value in zip(args[0].keys, values, strict=True)]
        return _set_default(held, args, node, work) if method == "setdefault" else None
    if method == "extend" and len(args) == 1:
        return _extend(held, args[0], node, work)
    if method == "clear" and not args:
        k, last = work.name("k"), work.bind(work.name("last"), expression(f"{held}.pop()"), node)
        trips = expression(f"range(len({held}))")
        return [work.own(gast.For(name(k, gast.Store()), trips, [last], [], None), node)]
    if method == "reverse" and not args:
        k, turned = work.name("k"), work.name("turned")
        empty = work.bind(turned, gast.List([], gast.Load()), node)
        take = _append(turned, expression(f"{held}[{k}]"), node, work)
        back = gast.For(name(k, gast.Store()), expression(f"range(len({held}) - 1, -1, -1)"), [take], [], None)
        put = _put(held, name(k), expression(f"{turned}[{k}]"), node, work)
        loop = gast.For(name(k, gast.Store()), expression(f"range(len({held}))"), [put], [], None)
        return [empty, work.own(back, node), work.own(loop, node)]
    if method == "pop" and len(args) < 2:
        return _taken(held, args[0] if args else None, node, work)
    if method == "insert" and len(args) == 2:
        return _insert(held, args[0], args[1], node, work)
    return None


def _set_default(held: str, args: list[Node], node: Node, work: Plain) -> Block | None:
    """`d.setdefault(k, e)`: what is not there yet is put there; both are computed in any case."""
    if len(args) != 2 or not isinstance(args[0], gast.Constant | gast.Name):
        return None
    before, value = ([], args[1]) if isinstance(args[1], gast.Constant | gast.Name) else _first_of(args[1], node, work)
    put = _put(held, copy(args[0]), value, node, work)
    return [*before, work.own(gast.If(expression(f"key not in {held}", key=copy(args[0])), [put], []), node)]


def _first_of(value: Node, node: Node, work: Plain) -> tuple[Block, Node]:
    held = work.name("item")
    return [work.bind(held, value, node)], name(held)


def _sorted(held: str, keywords: list[Node], node: Node, work: Plain) -> Block | None:
    """`out.sort()` puts numbers to their places; what is equal stays in its order, backwards too."""
    turned = [getattr(word.value, "value", None) for word in keywords]
    if any(word.arg != "reverse" for word in keywords) or not all(isinstance(one, bool) for one in turned):
        return None
    order, k, items = work.name("order"), work.name("k"), work.name("ordered")
    np_ = work.library("np")
    sign = "-" if True in turned else ""
    places = work.bind(order, expression(f"{np_}.argsort({sign}{np_}.array({held}), kind='stable')"), node)
    empty = work.bind(items, gast.List([], gast.Load()), node)
    take = _append(items, expression(f"{held}[{k}]"), node, work)
    put = _put(held, name(k), expression(f"{items}[{k}]"), node, work)
    loops = [
        gast.For(name(k, gast.Store()), name(order), [take], [], None),
        gast.For(name(k, gast.Store()), expression(f"range(len({held}))"), [put], [], None),
    ]
    return [places, empty, *(work.own(loop, node) for loop in loops)]


def _assigned(node: Node, bound: str, work: Plain) -> Block | None:
    """`e = out.pop(i)`, `out = out + [e]`."""
    value = node.value
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Add) and work.lists.get(bound) == "list":
        if isinstance(value.left, gast.Name) and value.left.id == bound:
            _joins(value.right, node, work)
            return _joined(bound, value.right, node, work)
    if not isinstance(value, gast.Call) or not isinstance(value.func, gast.Attribute):
        return None
    held = value.func.value
    if value.func.attr == "setdefault" and work.lists.get(getattr(held, "id", "")) == "dict" and not value.keywords:
        put = _set_default(held.id, value.args, node, work)
        read = expression(f"{held.id}[key]", key=copy(value.args[0])) if put is not None else None
        return None if put is None else [*put, work.bind(bound, read, node)]
    if value.func.attr != "pop":
        return None
    if isinstance(held, gast.Name) and work.lists.get(held.id) == "list" and len(value.args) == 1:
        before, place = _place(held.id, value.args[0], node, work)
        read = work.bind(bound, expression("held[i]", held=held.id, i=copy(place)), node)
        return [*before, read, *_without(held.id, place, node, work)]
    return None


def _joined(held: str, items: Node, node: Node, work: Plain) -> Block:
    """`out = out + items` adds to the list, which nobody else holds; one that a caller gave stays as it is."""
    if held not in work.given or not (work.facts.called or work.facts.placed):
        return _extend(held, items, node, work)
    whole, item = work.name("whole"), work.name("item")
    work.lists[whole] = "list"
    every = work.bind(whole, expression(f"[{item} for {item} in {held}]"), node)
    return [every, *_extend(whole, items, node, work), work.bind(held, name(whole), node)]


def _extend(held: str, items: Node, node: Node, work: Plain) -> Block:
    if isinstance(items, gast.List | gast.Tuple) and not any(isinstance(e, gast.Starred) for e in items.elts):
        before, values = _first(held, items.elts, node, work)
        return before + [_append(held, item, node, work) for item in values]
    item = work.name("item")
    loop = gast.For(name(item, gast.Store()), items, [_append(held, name(item), node, work)], [], None)
    return [work.own(loop, node)]


def _first(held: str, values: list[Node], node: Node, work: Plain) -> tuple[Block, list[Node]]:
    """Values that read a list are computed before any of them goes into it."""
    if len(values) < 2 or not any(
        getattr(n, "id", "") == held or isinstance(n, gast.Call) for v in values for n in walk(v)
    ):
        return [], values
    names = [work.name("item") for _ in values]
    return [work.bind(one, value, node) for one, value in zip(names, values, strict=True)], list(map(name, names))


def _is_list(value: Node, work: Plain) -> bool:
    """Whether `+` of a list and an expression joins lists for sure: an array is added to the items."""
    if isinstance(value, gast.List | gast.ListComp | gast.GeneratorExp):
        return True
    if isinstance(value, gast.Name):
        return work.lists.get(value.id) == "list"
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult | gast.Add):
        return _is_list(value.left, work) or _is_list(value.right, work)
    return kind_of_list(value, work.facts, work.lists) == "list"


def _joins(value: Node, node: Node, work: Plain) -> None:
    if not _is_list(value, work):
        raise work.facts.refuse(
            node, "E5005", "`+` of a list and what may be an array", "use `.extend(...)`, or make an array of the list"
        )


def _append(held: str, value: Node, node: Node, work: Plain) -> Node:
    return work.own(statement("held.append(value)", held=held, value=value), node)


def _put(held: str, key: Node, value: Node, node: Node, work: Plain) -> Node:
    part = expression("held[key]", held=held, key=key)
    part.ctx = gast.Store()
    return work.own(gast.Assign([part], value, None), node)


def _place(held: str, place: Node, node: Node, work: Plain) -> tuple[Block, Node]:
    """A place in a list as an expression that may be read again; a negative one counts from the end."""
    value = place.value if isinstance(place, gast.Constant) else None
    if (isinstance(value, int) and value >= 0) or _is_last(place):
        return [], place
    where = work.name("place")
    from_end = work.bind(where, expression(f"{where} + len({held})"), node)
    turn = work.own(gast.If(expression(f"{where} < 0"), [from_end], []), node)
    return [work.bind(where, place, node), turn], name(where)


def _is_last(place: Node) -> bool:
    return isinstance(place, gast.UnaryOp) and getattr(place.operand, "value", 0) == 1


def _taken(held: str, place: Node | None, node: Node, work: Plain) -> Block:
    """`out.pop(i)`, `del out[i]`"""
    before, where = ([], place) if place is None else _place(held, place, node, work)
    return [*before, *_without(held, where, node, work)]


def _without(held: str, place: Node | None, node: Node, work: Plain) -> Block:
    """Take one item out: the items behind it move up, the last one goes."""
    last = work.bind(work.name("last"), expression(f"{held}.pop()"), node)
    if place is None or _is_last(place):
        return [last]
    k = work.name("k")
    move = _put(held, name(k), expression(f"{held}[{k} + 1]"), node, work)
    trips = expression("range(place, len(held) - 1)", held=held, place=copy(place))
    return [work.own(gast.For(name(k, gast.Store()), trips, [move], [], None), node), last]


def _insert(held: str, place: Node, value: Node, node: Node, work: Plain) -> Block | None:
    """Put one item in: one more at the end, the items behind its place move down."""
    if not isinstance(place, gast.Constant):
        return None
    where, k, item = work.name("place"), work.name("k"), work.name("item")
    move = _put(held, name(k), expression(f"{held}[{k} - 1]"), node, work)
    trips = expression(f"range(len({held}) - 1, {where}, -1)")
    return [
        work.bind(item, value, node),
        _append(held, name(item), node, work),
        work.bind(where, expression(f"{builtin_name(min, work)}(place, len(held) - 1)", held=held, place=place), node),
        work.own(gast.For(name(k, gast.Store()), trips, [move], [], None), node),
        _put(held, name(where), name(item), node, work),
    ]


__all__ = ["changed_list", "is_change", "lists"]
