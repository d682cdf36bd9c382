"""Loops over several things at once, `zip`, `enumerate`, `reversed`, `d.items()`: a count, and items read by it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import gast

from srcgrad.facts import UNKNOWN, Kind
from srcgrad.front.builtin_names import builtin_name
from srcgrad.front.resolve import binding_of
from srcgrad.front.spread import spread
from srcgrad.front.values import each_of
from srcgrad.trees import BLOCKS, Block, Node, copy, expression, is_write, name, same, statements, stores, walk, written

if TYPE_CHECKING:
    from srcgrad.front.plain import Plain

_OF_DICTS = ("items", "values", "keys")


@dataclass
class Trips:
    """What one loop runs over: how the items of trip `count` are read, and how many trips there are."""

    work: Plain
    loop: Node
    count: str
    before: Block = field(default_factory=list)
    lengths: list[Node] = field(default_factory=list)


def trips(loop: Node, work: Plain) -> Block:
    """`for a, b in zip(x, y)` as `for i in range(min(len(x), len(y)))`, which reads `x[i]` and `y[i]` first."""
    if _is_parallel(loop.iter, work):
        loop.iter.func = gast.copy_location(name("range"), loop.iter.func)
    kind = _called(loop.iter, work)
    if _is_iterator(loop.iter, work):
        loop.iter = gast.copy_location(expression("list(x)", x=loop.iter), loop.iter)
    if _is_part_of_list(loop.iter, loop, work):
        return _along_list(loop, work)
    if kind == "reversed" and _called(loop.iter.args[0], work) not in ("range", "enumerate", "zip", *_OF_DICTS):
        loop.iter = gast.copy_location(expression("x[::-1]", x=loop.iter.args[0]), loop.iter)
        kind = ""
    if kind == "keys":
        loop.iter = gast.copy_location(expression("list(d)", d=loop.iter.func.value), loop.iter)
    if isinstance(loop.iter, gast.Name) and (_is_dict(loop.iter, work) or _is_keyed(loop, work)):
        loop.iter = gast.copy_location(expression("list(d)", d=loop.iter), loop.iter)
    if kind in ("zip", "enumerate", "items", "values"):
        return _counted(loop, work)
    if isinstance(loop.target, gast.Tuple | gast.List):
        item = work.name("item")
        unpack = work.own(gast.Assign([loop.target], name(item), None), loop)
        loop.target = name(item, gast.Store())
        loop.body = [*(spread(unpack, work) or [unpack]), *loop.body]
    elif isinstance(loop.target, gast.Name) and _takes_over(loop, _over_range(loop.iter, work), work):
        return _bound_in_body(loop, _over_range(loop.iter, work), work)
    return [loop]


def _over_range(node: Node, work: Plain) -> bool:
    """Whether a loop is over `range(...)` or `reversed(range(...))`."""
    kind = _called(node, work)
    return kind == "range" or (kind == "reversed" and _over_range(node.args[0], work))


def _takes_over(loop: Node, counts: bool, work: Plain) -> bool:
    """Whether what a loop binds goes by the name of something else that is differentiated: `for x in x`."""
    bound = loop.target.id
    if counts:
        return bound in work.varied
    if isinstance(loop.iter, gast.List | gast.Tuple | gast.Set):
        return False  # the items are like what they are made of
    numbers = work.facts.kinds.get(bound, UNKNOWN).tag, each_of(work.facts.of.get(loop.iter, UNKNOWN)).tag
    array = bound in work.given and any(tag not in ("scalar", "bool") for tag in numbers)
    return array or any(getattr(n, "id", "") == bound for n in walk(loop.iter))


def _bound_in_body(loop: Node, counts: bool, work: Plain) -> Block:
    """`for x in e` as `for i in range(len(items))` that binds `x = items[i]`; `items` is e, or the name that e is."""
    before: Block = []
    count = work.name("i")
    item: Node = name(count)
    if not counts:
        items = loop.iter.id if _keeps_name(loop) else work.name("items")
        before = [] if items == getattr(loop.iter, "id", "") else [work.bind(items, loop.iter, loop)]
        item = expression(f"{items}[{count}]")
        loop.iter = gast.copy_location(expression(f"range(len({items}))"), loop.iter)
    loop.body = [work.bind(loop.target.id, item, loop), *loop.body]
    loop.target = name(count, gast.Store())
    return [*before, work.own(loop, loop)]


def _keeps_name(loop: Node) -> bool:
    """Whether what a loop runs over has a name that goes on meaning it in the body."""
    if not isinstance(loop.iter, gast.Name):
        return False
    bound = [n for part in [loop.target, *loop.body] for n in walk(part) if isinstance(n, gast.Name)]
    return not any(n.id == loop.iter.id and isinstance(n.ctx, gast.Store) for n in bound)


def zipped(block: Block, work: Plain) -> Block:
    """A block of a text of ours, whose loops over items and their tangents, `zip(x, x_dot)`, count."""
    made: Block = []
    for node in block:
        for which in BLOCKS:
            if getattr(node, which, None):
                setattr(node, which, zipped(getattr(node, which), work))
        pairs = isinstance(node, gast.For) and isinstance(node.target, gast.Tuple)
        made += trips(node, work) if pairs else [node]
    return made


def _is_parallel(node: Node, work: Plain) -> bool:
    """Whether a loop is over Numba's `prange`, which is `range` to Python."""
    if not isinstance(node, gast.Call) or "prange" not in (
        getattr(node.func, "id", ""),
        getattr(node.func, "attr", ""),
    ):
        return False
    found = binding_of(node.func, work.facts, work.facts.local)
    home = "" if found is None else str(getattr(found.object, "__module__", None) or getattr(found, "reason", ""))
    return home.startswith("numba.") or "`from numba." in home  # of a text, its imports say so


def _is_dict(node: Node, work: Plain) -> bool:
    facts = work.facts
    known = facts.of.get(node, facts.named.get(node.id, UNKNOWN)), facts.kinds.get(node.id, UNKNOWN)
    return work.lists.get(node.id) == "dict" or any(kind.tag == "dict" for kind in known)


def _is_keyed(loop: Node, work: Plain) -> bool:
    """Whether the text shows an argument to be a dict: `for key in params`, and `params[key]` in the loop."""
    held, key = loop.iter.id, getattr(loop.target, "id", "")
    if held not in work.facts.wrt or work.facts.kinds.get(held, UNKNOWN) != UNKNOWN:
        return False
    parts = [n for node in loop.body for n in walk(node) if isinstance(n, gast.Subscript)]
    found = any(getattr(n.value, "id", "") == held and getattr(n.slice, "id", None) == key for n in parts)
    if found:
        work.facts.kinds[held] = Kind("dict")  # no float is an index
    return found


def _called(node: Node, work: Plain) -> str:
    """The name of the built-in function, or of the method of a dict, by which a loop is made."""
    if not isinstance(node, gast.Call):
        return ""
    function = node.func
    if isinstance(function, gast.Attribute) and function.attr in _OF_DICTS and not node.args:
        held = getattr(function.value, "id", "")
        if held in work.facts.wrt and work.facts.kinds.get(held, UNKNOWN) == UNKNOWN:
            work.facts.kinds[held] = Kind("dict")  # nothing else has items and keys
        return str(function.attr) if held else ""
    found = binding_of(function, work.facts, work.facts.local)
    for known in (zip, enumerate, reversed, range):
        if found is not None and found.object is known and node.args:
            return str(known.__name__)
    return ""


def _is_iterator(node: Node, work: Plain) -> bool:
    """Whether an expression makes an iterator, such as `itertools.product(...)`, which has no length."""
    found = binding_of(node.func, work.facts, work.facts.local) if isinstance(node, gast.Call) else None
    known = found is not None and any(found.object is one for one in (zip, enumerate, reversed, map, filter))
    return found is not None and not known and isinstance(found.object, type) and hasattr(found.object, "__next__")


def _is_part_of_list(node: Node, loop: Node, work: Plain) -> bool:
    """`reversed(x)`, whose items are read trip by trip; `x[2:]`, `x[::-1]` of a list that the loop does not change."""
    live = _called(node, work) == "reversed"
    held = node.args[0] if live else getattr(node, "value", None)
    if not isinstance(held, gast.Name) or not _is_sequence(held.id, work):
        return False
    part = getattr(node, "slice", None)
    if live or not isinstance(part, gast.Slice) or _places(part, held.id) is None:
        return live
    return not any(held.id in written(n) or _is_alone(n, held.id) for n in statements(loop.body))


def _is_alone(node: Node, held: str) -> bool:
    """Whether a statement may change a list: `x.append(e)`, `change(x)`."""
    return isinstance(node, gast.Expr) and any(getattr(n, "id", "") == held for n in walk(node.value))


def _is_sequence(held: str, work: Plain) -> bool:
    kind = work.facts.kinds.get(held)
    return work.lists.get(held) == "list" or (kind is not None and kind.tag in ("list", "tuple"))


def _places(part: Node, held: str) -> Node | None:
    """The places of `x[1:]`, `x[:-1]`, `x[2:-1]` and `x[::-1]`, as a range; None for other slices."""
    if part.step is not None:
        backwards = same(part.step, expression("-1")) and part.lower is None and part.upper is None
        return expression(f"reversed(range(len({held})))") if backwards else None
    first = 0 if part.lower is None else getattr(part.lower, "value", None)
    cut = isinstance(part.upper, gast.UnaryOp) and isinstance(part.upper.op, gast.USub)
    left = getattr(part.upper.operand, "value", None) if cut else None
    if type(first) is not int or (part.upper is not None and type(left) is not int):
        return None
    begin, end = f"{first}, " if first else "", f" - {left}" if cut else ""
    return expression(f"range({begin}len({held}){end})")


def _along_list(loop: Node, work: Plain) -> Block:
    """`for p in x[1:]` as `for i in range(1, len(x))`, which reads `x[i]` first: no part of the list is made."""
    whole = isinstance(loop.iter, gast.Call)
    held = (loop.iter.args[0] if whole else loop.iter.value).id
    before = []
    if _rebinds(loop, held):
        before = [work.bind(work.name("items"), name(held), loop)]
        held = before[0].targets[0].id
    made = Trips(work, loop, work.name("i"))
    head = _bind(loop.target, expression(f"{held}[{made.count}]"), made, None)
    places = expression(f"reversed(range(len({held})))") if whole else _places(loop.iter.slice, held)
    loop.iter = gast.copy_location(places, loop.iter)
    loop.target = name(made.count, gast.Store())
    loop.body = [*head, *loop.body]
    return [*before, work.own(loop, loop)]


def _counted(loop: Node, work: Plain) -> Block:
    first = loop.target.elts[0] if isinstance(loop.target, gast.Tuple) else None
    counts = _called(loop.iter, work) == "enumerate" and len(loop.iter.args) == 1 and not loop.iter.keywords
    named = first if counts and isinstance(first, gast.Name) else None
    made = Trips(work, loop, work.name("i") if named is None else named.id)
    head = _bind(loop.target, _item(loop.iter, made), made, skip=named)
    lengths = made.lengths
    trip_count = lengths[0] if len(lengths) == 1 else gast.Call(name(builtin_name(min, work)), lengths, [])
    loop.iter = gast.copy_location(expression("range(n)", n=trip_count), loop.iter)
    loop.target = name(made.count, gast.Store())
    loop.body = [*head, *loop.body]
    work.own(loop, loop)
    return [*made.before, loop]


def _item(node: Node, made: Trips) -> Node:
    """The item of one trip: an expression, or a tuple of items."""
    work, like = made.work, made.loop
    kind = _called(node, work)
    if kind == "zip":
        strict = [w for w in node.keywords if w.arg == "strict" and getattr(w.value, "value", None) is True]
        items = gast.Tuple(elts=[_item(part, made) for part in node.args], ctx=gast.Load())
        if strict and len(made.lengths) > 1:
            made.before.append(_same_lengths(made))
        return items
    if kind == "enumerate":
        start = node.args[1] if len(node.args) > 1 else next((w.value for w in node.keywords), None)
        place = name(made.count) if start is None else expression("start + i", start=start, i=made.count)
        return gast.Tuple(elts=[place, _item(node.args[0], made)], ctx=gast.Load())
    if kind in _OF_DICTS:
        keys, held = work.name("keys"), node.func.value
        if _rebinds(like, held.id):
            made.before.append(work.bind(items := work.name("items"), held, like))
            held = name(items)
        made.before.append(work.bind(keys, expression("list(d)", d=held), like))
        made.lengths.append(expression(f"len({keys})"))
        key = expression(f"{keys}[{made.count}]")
        value = expression("d[key]", d=copy(held), key=copy(key))
        return {"keys": key, "values": value}.get(kind) or gast.Tuple(elts=[key, value], ctx=gast.Load())
    if kind == "range" and len(node.args) == 1:
        made.lengths.append(node.args[0])
        return name(made.count)
    backwards = kind == "reversed" and _is_sequence(getattr(node.args[0], "id", ""), work)
    if kind == "reversed":
        node = node.args[0] if backwards else expression("x[::-1]", x=node.args[0])
    if (isinstance(node, gast.Name) and _is_dict(node, work)) or _is_iterator(node, work):
        node = expression("list(d)", d=node)
    held = node.id if isinstance(node, gast.Name) and not _rebinds(made.loop, node.id) else work.name("items")
    if not isinstance(node, gast.Name) or held != node.id:
        made.before.append(work.bind(held, node, like))
    made.lengths.append(expression(f"len({held})"))
    if backwards:
        last = work.name("last")
        made.before.append(work.bind(last, expression(f"len({held}) - 1"), like))
        return expression(f"{held}[{last} - {made.count}]")
    return expression(f"{held}[{made.count}]")


def _same_lengths(made: Trips) -> Node:
    differ = gast.Compare(made.lengths[0], [gast.NotEq() for _ in made.lengths[1:]], list(map(copy, made.lengths[1:])))
    error = expression("ValueError('zip() was given sequences of different lengths')")
    refusal = made.work.own(gast.Raise(error, None), made.loop)  # which else has the text of the loop
    return made.work.own(gast.If(differ, [refusal], []), made.loop)


def _rebinds(loop: Node, bound: str) -> bool:
    return bound in stores(loop) or any(bound in stores(n) and not is_write(n) for n in statements(loop.body))


def _bind(target: Node, item: Node, made: Trips, skip: Node | None) -> Block:
    """Assignments of the items to the names of the loop, in the order of the text."""
    if target is skip:
        return []
    if isinstance(target, gast.Tuple | gast.List) and isinstance(item, gast.Tuple):
        if len(target.elts) == len(item.elts):
            pairs = zip(target.elts, item.elts, strict=True)
            return [node for part, value in pairs for node in _bind(part, value, made, skip)]
    unpack = made.work.own(gast.Assign([target], item, None), made.loop)
    return spread(unpack, made.work) or [unpack]
