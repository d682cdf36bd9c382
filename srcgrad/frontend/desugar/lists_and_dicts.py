"""Lists and dicts that a function fills or was given: which names hold them, and many spellings in terms of few.

`dict(w=a)` is a display, `max(l)` of a list is that of an array, `del d[k]` and `{**d, "k": e}` make a dict anew,
`d.get(k, e)` asks whether the key is there, and `[a, b] * 3` is the display that it gives. What `rows = np.array(rows)`
makes where a list ends has a name of its own.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import gast
import numpy as np

from srcgrad.core.facts import UNKNOWN, Facts, inner_kinds
from srcgrad.core.rules import rule_of, written_out
from srcgrad.core.trees import (
    BLOCKS,
    COMPOUND,
    SIMPLE,
    Block,
    Node,
    at,
    bound_in_expressions,
    copy,
    every_parameter,
    expression,
    find_nodes,
    holds,
    is_write,
    literal_node,
    loads,
    mentions,
    name,
    parameters,
    part_written,
    statement,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.core.visitor import rewrite, rewrite_parts
from srcgrad.frontend.again import container_of, portions
from srcgrad.frontend.calls.functions import function_of
from srcgrad.frontend.context import changed_lists, is_change
from srcgrad.frontend.desugar.numpy_spellings import builtin_name, columns, expand_masked_reduction, operands_of_dtype
from srcgrad.frontend.kinds_of_values import INTEGER
from srcgrad.frontend.rename_variables import reading_apart, separate
from srcgrad.frontend.resolve import METHODS, binding_of, by_totals, object_of
from srcgrad.runtime import owned

if TYPE_CHECKING:
    from srcgrad.frontend.context import Rewriting


def kinds_of_lists(function: Node, facts: Facts | None = None) -> dict[str, str]:
    """Names to which nothing but new lists, or new dicts, is bound; an argument is copied before it is changed."""
    known: dict[str, str] = {}
    while True:
        found = _kinds(function, facts, known)
        if found == known:
            return found
        known = found


def rebound_containers(function: Node, facts: Facts) -> list[str]:
    """Names of lists and dicts that change and are bound to something else as well: `s[0] = e`, then `s = s[0]`."""
    order = list(statements(function.body))
    changed = dict.fromkeys(w for n in order for w in (written_names(n)[:1] if is_write(n) else changed_lists(n)))
    tags = _tags(function, facts, {}) if changed else {}
    return [one for one in changed if one in tags and len(set(tags[one])) > 1 and set(tags[one]) & {"list", "dict"}]


def _kinds(function: Node, facts: Facts | None, known: dict[str, str]) -> dict[str, str]:
    """The same where some names are known: zeros that mirror a list are a list."""
    found = _tags(function, facts, known)
    return {bound: kinds[0] for bound, kinds in found.items() if kinds and kinds[0] and len(set(kinds)) == 1}


def _tags(function: Node, facts: Facts | None, known: dict[str, str]) -> dict[str, list[str]]:
    """For each name what is bound to it: a list or a dict that is new, or an empty string for anything else."""
    found: dict[str, list[str]] = {}
    ours = facts is not None and facts.request.generated
    filled = {written_names(node)[0] for node in statements(function.body) if is_write(node)} if ours else set()
    held = {} if facts is None else dict(inner_kinds(facts.kinds.of_names))
    changed = _changed_as_given(function)
    keyed = _names_with_keys(function)
    for given in every_parameter(function):
        tag = held.get(given.id, UNKNOWN).tag
        if tag == "unknown" and given.id in changed:
            known_as = UNKNOWN if facts is None else facts.kinds.of_names.get(given.id, UNKNOWN)
            tag = "list" if known_as.tag == "unknown" else known_as.tag
        elif tag == "unknown" and given.id in keyed and facts is not None:
            tag = "dict" if facts.kinds.of_names.get(given.id, UNKNOWN) == UNKNOWN else tag
        if facts is not None and given.id in facts.kinds.records and tag == "object":
            tag = "dict"
        found[given.id] = [tag if tag in ("list", "dict") else ""]
    for node in statements(function.body):
        for bound in stores(node):
            if is_write(node) or is_change(node, bound) or _extends(node, bound):
                continue
            value = _given_to(bound, node)
            if isinstance(value, gast.Name) and value.id == bound:
                continue
            if facts is not None and (node in facts.resolution.copies or (ours and _is_own(value, bound, facts))):
                continue
            tag = "" if _reads_itself(value, bound) else kind_of_list(value, facts, known)
            tag = "list" if value is None and bound in _gathered(node) else tag
            if not tag and value is not None and facts is not None and bound in filled:
                tag = container_of(value, function, facts)
            found.setdefault(bound, []).append(tag)
        for each in bound_in_expressions(node):
            found.setdefault(each.target.id, []).append(kind_of_list(each.value, facts, known))
    return found


def _given_to(bound: str, node: Node) -> Node | None:
    """What a statement binds to a name: its value, or a part of it: `y` in `a, b = x, y`."""
    if target(node) == bound:
        value: Node = node.value
        return value
    places = getattr(node, "targets", [None])[0]
    parts = getattr(getattr(node, "value", None), "elts", None)
    if not isinstance(places, gast.Tuple) or parts is None or len(parts) != len(places.elts):
        return None
    given = [part for one, part in zip(places.elts, parts, strict=True) if getattr(one, "id", "") == bound]
    starred = any(isinstance(one, gast.Starred) for one in [*places.elts, *parts])
    return given[0] if len(given) == 1 and not starred else None


def _changed_as_given(function: Node) -> set[str]:
    """Parameters whose argument `append` or `pop` may change, not only what is bound to their names later on."""
    order = list(statements(function.body))
    changing = [(n, held) for n in order if (held := changed_lists(n))]
    given = {one: [n for n, held in changing if one in held] for one in parameters(function)} if changing else {}
    bound = {one for one in given if given[one] and any(one in stores(n) and not is_change(n, one) for n in order)}
    apart = reading_apart(function, {one: given[one] for one in bound}) if bound else set()
    return {one for one, changes in given.items() if changes and one not in apart}


def _names_with_keys(function: Node) -> set[str]:
    """Names into which something is written by names: `s["a"] = e`. Where nothing else is known they hold dicts."""
    parts = [part_written(node) for node in statements(function.body) if is_write(node)]
    return {getattr(p.value, "id", "") for p in parts if isinstance(getattr(p.slice, "value", None), str)}


def _is_own(value: Node | None, bound: str, facts: Facts) -> bool:
    """`s = owned(s, others)`, which a text of ours begins with: a copy of the same kind."""
    if not isinstance(value, gast.Call) or not isinstance(value.func, gast.Name) or not value.args:
        return False
    found = binding_of(value.func, facts, facts.names.local)
    return found is not None and found.object is owned and getattr(value.args[0], "id", "") == bound


def _reads_itself(value: Node | None, bound: str) -> bool:
    """Whether a name is bound to another list that is made of its own: `points = [2.0 * p for p in points]`."""
    return isinstance(value, gast.ListComp | gast.DictComp) and any(getattr(n, "id", "") == bound for n in walk(value))


def _gathered(node: Node) -> list[str]:
    """Names that a statement binds to lists of what the others leave: `first, *rest = x`."""
    placed = node.targets if isinstance(node, gast.Assign) else [node.target] if isinstance(node, gast.For) else []
    stars = [star for part in placed for star in find_nodes(part, gast.Starred)]
    return [star.value.id for star in stars if isinstance(star.value, gast.Name)]


def _extends(node: Node, bound: str) -> bool:
    """`out += items`, `out = out + items`"""
    if isinstance(node, gast.AugAssign):
        return isinstance(node.op, gast.Add) and isinstance(node.target, gast.Name)
    value = node.value if target(node) == bound else None
    return isinstance(value, gast.BinOp) and isinstance(value.op, gast.Add) and getattr(value.left, "id", "") == bound


_MIRRORS = {"zeros_like": 1, "item_masks": 2}  # what gives a dict for a dict, with how many arguments


def kind_of_list(value: Node | None, facts: Facts | None, known: dict[str, str]) -> str:
    """The kind of container that an expression makes anew."""
    if isinstance(value, gast.List | gast.ListComp):
        return "list"
    if isinstance(value, gast.Dict | gast.DictComp):
        return "dict"
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult):
        return "list" if isinstance(value.left, gast.List) or isinstance(value.right, gast.List) else ""
    called = value.func if isinstance(value, gast.Call) else None
    if value is None or not isinstance(called, gast.Name) or called.id not in ("list", "dict", *_MIRRORS):
        return ""
    if called.id in _MIRRORS:
        mirrored = getattr(value.args[0], "id", "") if len(value.args) == _MIRRORS[called.id] else ""
        return known.get(mirrored, "") if facts is not None and facts.request.generated else ""
    found = binding_of(called, facts, facts.names.local) if facts is not None else None
    return str(called.id) if facts is None or (found is not None and found.object in (list, dict)) else ""


def separate_list_names(function: Node, facts: Facts) -> None:
    """Rename what follows, where one block has the whole life of a list and of what is made of it.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(x):\\n    y = []\\n    y.append(x)\\n    y = np.array(y)\\n    return np.sum(y)"
    >>> print(explain_text(text, after="desugar"))
    def f(x):
        y = []
        y.append(x)
        y_1 = np.array(y)
        return np.sum(y_1)
    """
    kinds = (gast.FunctionDef, gast.Lambda, gast.Global, gast.Nonlocal)
    shared = {one for node in function.body for item in find_nodes(node, *kinds) for one in _names_seen_elsewhere(item)}
    kept = {*facts.request.wrt, *shared, *(n.id for n in find_nodes(function.args, gast.Name))}
    for block in [function.body, *(b for node in statements(function.body) for b in _blocks(node))]:
        begun = dict.fromkeys(str(target(node)) for node in block if _begins(node, target(node)))
        within, whole = (_count_names(block), _count_names(function.body)) if begun else ({}, {})
        for held in begun:
            first = next(node for node in block if mentions(node, held))
            if _begins(first, held) and within[held] == whole[held] and held not in kept:
                _name_apart(block, held, facts)


def _names_seen_elsewhere(item: Node) -> list[str]:
    """Names that a nested function, or another module, may see under their name."""
    declared = isinstance(item, gast.Global | gast.Nonlocal)
    return item.names if declared else [n.id for n in find_nodes(item, gast.Name)]


def _blocks(node: Node) -> list[Block]:
    return [getattr(node, which) for which in BLOCKS if getattr(node, which, None)]


def _begins(node: Node, held: str | None) -> bool:
    """Whether a statement binds the name to a new list: `rows = []`."""
    listed = held is not None and target(node) == held and isinstance(node.value, gast.List | gast.ListComp)
    return listed and held not in loads(node.value)


def _makes_other(node: Node, held: str) -> bool:
    """Whether a statement binds the name to what a call makes of the list: `rows = np.array(rows)`."""
    return target(node) == held and isinstance(node.value, gast.Call) and held in loads(node.value)


def _count_names(block: Block) -> dict[str, int]:
    """How often each name stands in a block."""
    return Counter(n.id for node in block for n in find_nodes(node, gast.Name))


def _name_apart(block: Block, held: str, facts: Facts) -> None:
    """Another name from where a list is made something else, up to where the next one begins."""
    made = held
    for node in block:
        if _begins(node, held):
            made = held
        elif made == held and _makes_other(node, held):
            made = facts.names.numbered_name(held)
            facts.origin.text[node] = copy(node)
            node.targets[0].id = made
        elif made != held:
            _rename(node, held, made, facts)


def _rename(node: Node, held: str, made: str, facts: Facts) -> None:
    facts.origin.text.update((item, copy(item)) for item in statements([node]) if not isinstance(item, COMPOUND))
    for item in walk(node):
        if isinstance(item, gast.Name) and item.id == held:
            item.id = made


def dict_display(call: Node, facts: Facts) -> Node | None:
    """The display that a call of `dict` with words alone is; None for any other call."""
    if call.args or not isinstance(call.func, gast.Name) or not all(word.arg for word in call.keywords):
        return None
    found = binding_of(call.func, facts, facts.names.local)
    if found is None or found.object is not dict:
        return None
    return gast.Dict([literal_node(word.arg) for word in call.keywords], [word.value for word in call.keywords])


def spell_displays(function: Node, facts: Facts) -> None:
    """The same for all calls in a text of ours, in which nothing else is spelled anew."""

    def spelled(node: Node) -> Node:
        made = dict_display(node, facts) if isinstance(node, gast.Call) else None
        return node if made is None else at(made, node)

    for node in [n for n in walk(function) if isinstance(n, gast.stmt)]:
        rewrite(node, spelled)


def lists(function: Node, facts: Facts) -> Node:
    """Find the names that hold nothing but lists, or dicts, which this function made."""
    names = rebound_containers(function, facts)
    if names:
        separate(function, facts, names)
    facts.kinds.lists = kinds_of_lists(function, facts)
    if facts.request.generated:
        portions(function, facts)
    for node in statements(function.body):
        if (
            is_write(node)
            and not isinstance(part_written(node).value, gast.Name)
            and written_names(node)[0] in facts.kinds.lists
        ):
            raise facts.refuse(
                part_written(node),
                "E5010",
                f"a write into an item of an item of `{written_names(node)[0]}`",
                "use an array with two axes, or make the inner item anew and store that",
            )
        if (
            is_write(node)
            and isinstance(part_written(node).slice, gast.Slice)
            and written_names(node)[0] in facts.kinds.lists
        ):
            raise facts.refuse(
                part_written(node),
                "E5005",
                "a write into a slice of a list",
                "make a new list: `l = [*l[:i], ..., *l[j:]]`",
            )
    return function


def changed_list(node: Node, work: Rewriting) -> Block | None:
    """A statement that changes a list, in terms of `append`, `pop` and `out[i] = e`; None for any other."""
    if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name) and isinstance(node.op, gast.Add):
        if work.lists.get(node.target.id) == "list":
            if not isinstance(node.value, gast.Tuple):
                _joins(node.value, node, work)
            return _extend(node.target.id, node.value, node, work)
        return None
    if isinstance(node, gast.Assign) and target(node) is not None:
        return _write_assignment(node, str(target(node)), work)
    if isinstance(node, gast.Delete) and len(node.targets) == 1 and isinstance(node.targets[0], gast.Subscript):
        part = node.targets[0]
        plain = not isinstance(part.slice, gast.Slice) and isinstance(part.value, gast.Name)
        if plain and work.lists.get(part.value.id) == "list":
            return _write_removal(part.value.id, part.slice, node, work)
        return None
    call = node.value if isinstance(node, gast.Expr) else None
    if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Attribute):
        return None
    held = call.func.value
    if not isinstance(held, gast.Name) or held.id not in work.lists:
        return None
    args = call.args
    if call.func.attr == "sort" and not args and work.lists[held.id] == "list":
        return _write_sort(held.id, call.keywords, node, work)
    if call.keywords and call.func.attr == "update" and not args and all(word.arg for word in call.keywords):
        args = [gast.Dict([literal_node(word.arg) for word in call.keywords], [word.value for word in call.keywords])]
    elif call.keywords:
        return None
    return _method(held.id, call.func.attr, args, node, work)


def _method(held: str, method: str, args: list[Node], node: Node, work: Rewriting) -> Block | None:
    if work.lists[held] == "dict":
        if method == "update" and len(args) == 1 and isinstance(args[0], gast.Dict) and None not in args[0].keys:
            before, values = _compute_values_first(held, args[0].values, node, work)
            keys = [key for key in args[0].keys if key is not None]
            return before + [_put(held, k, value, node, work) for k, value in zip(keys, values, strict=True)]
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
        return _write_removal(held, args[0] if args else None, node, work)
    if method == "insert" and len(args) == 2:
        return _insert(held, args[0], args[1], node, work)
    return None


def _set_default(held: str, args: list[Node], node: Node, work: Rewriting) -> Block | None:
    """`d.setdefault(k, e)`: what is not there yet is put there; both are computed in any case."""
    if len(args) != 2 or not isinstance(args[0], gast.Constant | gast.Name):
        return None
    before, value = ([], args[1]) if isinstance(args[1], gast.Constant | gast.Name) else _first_of(args[1], node, work)
    put = _put(held, copy(args[0]), value, node, work)
    return [*before, work.own(gast.If(expression(f"key not in {held}", key=copy(args[0])), [put], []), node)]


def _first_of(value: Node, node: Node, work: Rewriting) -> tuple[Block, Node]:
    held = work.name("item")
    return [work.bind(held, value, node)], name(held)


def _write_sort(held: str, keywords: list[gast.keyword], node: Node, work: Rewriting) -> Block | None:
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


def _write_assignment(node: Node, bound: str, work: Rewriting) -> Block | None:
    """`e = out.pop(i)`, `out = out + [e]`."""
    value = node.value
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Add) and work.lists.get(bound) == "list":
        if isinstance(value.left, gast.Name) and value.left.id == bound:
            _joins(value.right, node, work)
            return _write_extend(bound, value.right, node, work)
    if not isinstance(value, gast.Call) or not isinstance(value.func, gast.Attribute):
        return None
    held = value.func.value
    if value.func.attr == "setdefault" and work.lists.get(getattr(held, "id", "")) == "dict" and not value.keywords:
        put = _set_default(held.id, value.args, node, work)
        if put is None:
            return None
        return [*put, work.bind(bound, expression(f"{held.id}[key]", key=copy(value.args[0])), node)]
    if value.func.attr != "pop":
        return None
    if isinstance(held, gast.Name) and work.lists.get(held.id) == "list" and len(value.args) == 1:
        before, place = _place(held.id, value.args[0], node, work)
        read = work.bind(bound, expression("held[i]", held=held.id, i=copy(place)), node)
        return [*before, read, *_close_gap(held.id, place, node, work)]
    return None


def _write_extend(held: str, items: Node, node: Node, work: Rewriting) -> Block:
    """`out = out + items` adds to the list, which nobody else holds; one that a caller gave stays as it is."""
    if held not in work.given or not (work.facts.request.called or work.facts.request.placed):
        return _extend(held, items, node, work)
    whole, item = work.name("whole"), work.name("item")
    work.lists[whole] = "list"
    every = work.bind(whole, expression(f"[{item} for {item} in {held}]"), node)
    return [every, *_extend(whole, items, node, work), work.bind(held, name(whole), node)]


def _extend(held: str, items: Node, node: Node, work: Rewriting) -> Block:
    if isinstance(items, gast.List | gast.Tuple) and not any(isinstance(e, gast.Starred) for e in items.elts):
        before, values = _compute_values_first(held, items.elts, node, work)
        return before + [_append(held, item, node, work) for item in values]
    item = work.name("item")
    loop = gast.For(name(item, gast.Store()), items, [_append(held, name(item), node, work)], [], None)
    return [work.own(loop, node)]


def _compute_values_first(held: str, values: list[Node], node: Node, work: Rewriting) -> tuple[Block, list[Node]]:
    """Values that read a list are computed before any of them goes into it."""
    if len(values) < 2 or not any(
        getattr(n, "id", "") == held or isinstance(n, gast.Call) for v in values for n in walk(v)
    ):
        return [], values
    names = [work.name("item") for _ in values]
    return [work.bind(one, value, node) for one, value in zip(names, values, strict=True)], list(map(name, names))


def _is_list(value: Node, work: Rewriting) -> bool:
    """Whether `+` of a list and an expression joins lists for sure: an array is added to the items."""
    if isinstance(value, gast.List | gast.ListComp | gast.GeneratorExp):
        return True
    if isinstance(value, gast.Name):
        sure = value.id not in work.mixed or work.facts.kinds.of_expressions.get(value, UNKNOWN).tag == "list"
        return work.lists.get(value.id) == "list" and sure
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult | gast.Add):
        return _is_list(value.left, work) or _is_list(value.right, work)
    return kind_of_list(value, work.facts, work.lists) == "list"


def _joins(value: Node, node: Node, work: Rewriting) -> None:
    if not _is_list(value, work):
        raise work.facts.refuse(
            node, "E5005", "`+` of a list and what may be an array", "use `.extend(...)`, or make an array of the list"
        )


def _append(held: str, value: Node, node: Node, work: Rewriting) -> Node:
    return work.own(statement("held.append(value)", held=held, value=value), node)


def _put(held: str, key: Node, value: Node, node: Node, work: Rewriting) -> Node:
    part = expression("held[key]", held=held, key=key)
    part.ctx = gast.Store()
    return work.own(gast.Assign([part], value, None), node)


def _place(held: str, place: Node, node: Node, work: Rewriting) -> tuple[Block, Node]:
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


def _write_removal(held: str, place: Node | None, node: Node, work: Rewriting) -> Block:
    """`out.pop(i)`, `del out[i]`"""
    before, where = ([], place) if place is None else _place(held, place, node, work)
    return [*before, *_close_gap(held, where, node, work)]


def _close_gap(held: str, place: Node | None, node: Node, work: Rewriting) -> Block:
    """Take one item out: the items behind it move up, the last one goes."""
    last = work.bind(work.name("last"), expression(f"{held}.pop()"), node)
    if place is None or _is_last(place):
        return [last]
    k = work.name("k")
    move = _put(held, name(k), expression(f"{held}[{k} + 1]"), node, work)
    trips = expression("range(place, len(held) - 1)", held=held, place=copy(place))
    return [work.own(gast.For(name(k, gast.Store()), trips, [move], [], None), node), last]


def _insert(held: str, place: Node, value: Node, node: Node, work: Rewriting) -> Block | None:
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


_DISPLAYS = (gast.List, gast.Dict, gast.ListComp, gast.DictComp)
_MANY = 64  # items that `[e] * n` may be spelled out to


def spell_list_methods(function: Node, work: Rewriting) -> None:
    """Spell them out, first in expressions and then as statements, for names that hold dicts of this function."""
    _expressions(function, work)
    _separate(function, work)
    held = kinds_of_lists(function, work.facts)
    given = set(parameters(function))
    dicts = {name for name, kind in held.items() if kind == "dict"}
    if dicts:
        _spell_get(function, dicts, work)
    _statements(function, dicts - given, set(held) - dicts, work)


def _named_blocks(node: Node) -> list[tuple[str, Block]]:
    return [(key, block) for key in BLOCKS if (block := getattr(node, key, None))]


def _expressions(node: Node, work: Rewriting) -> None:
    """Replace calls and products that are displays in other words, below a node."""
    rewrite_parts(node, lambda part: _expression(part, work))


def _expression(node: Node, work: Rewriting) -> Node:
    kind = type(node)
    if kind in SIMPLE:
        return node
    if kind is not gast.FunctionDef and kind is not gast.Lambda:
        _expressions(node, work)
    made = None
    if kind is gast.Call:
        words = [word.arg for word in node.keywords]
        if "where" in words or "initial" in words:
            made = expand_masked_reduction(node, work)
        elif "dtype" in words:
            made = operands_of_dtype(node, work)
        if made is None and type(node.func) is gast.Name:
            made = _display_of_call(node, work)
        elif made is None and type(node.func) is gast.Attribute:
            made = _as_function(node, work)
    elif kind is gast.BinOp and isinstance(node.op, gast.Mult):
        made = _display_of_repeat(node, work)
    elif kind is gast.Subscript:
        made = columns(node, work)
    return node if made is None else work.own(made, node)


def _display_of_call(call: Node, work: Rewriting) -> Node | None:
    made = dict_display(call, work.facts)
    if made is not None:
        return made
    found = binding_of(call.func, work.facts, work.facts.names.local)
    function = None if found is None else found.object
    if function is list and not call.args and not call.keywords:
        return gast.List([], gast.Load())
    if function in (max, min):
        return _extreme_of(call, "max" if function is max else "min", work)
    if function not in (list, dict) or len(call.args) != 1 or call.keywords:
        return None
    given = call.args[0]
    paired = isinstance(given, gast.Call) and object_of(given.func, work.facts) in (zip, enumerate)
    if function is dict and paired:
        key, item = work.name("key"), work.name("item")
        both = gast.Tuple([name(key, gast.Store()), name(item, gast.Store())], gast.Store())
        return gast.DictComp(name(key), name(item), [gast.comprehension(both, given, [], 0)])
    return _items(given, work) if function is list and (paired or isinstance(given, gast.Name)) else None


def _are_literals(arguments: list[Node]) -> bool:
    """Whether arguments are numbers, None or tuples of them, as axes are."""
    return not any(isinstance(n, gast.expr) and not isinstance(n, _LITERALS) for one in arguments for n in walk(one))


_LITERALS = (gast.Constant, gast.UnaryOp, gast.Tuple)


def _as_function(call: Node, work: Rewriting) -> Node | None:
    """`np.cumprod(x)` for `x.cumprod()`: an op that is written out with others is called as a function."""
    op = METHODS.get(call.func.attr)
    rule = rule_of(op)
    if rule is None or function_of(call.func, work.facts, work.facts.names.local) is not None:
        return None
    if not by_totals(call, rule, work.facts) and not written_out(rule, [call.func.value, *call.args], call.keywords):
        return None
    owner = call.func.value
    known = binding_of(owner, work.facts, work.facts.names.local)
    held = getattr(owner, "id", "")
    kinds = [table.get(held, UNKNOWN).tag for table in (work.facts.kinds.of_names, work.facts.kinds.named)]
    if (known is not None and not isinstance(known.object, np.ndarray)) or not {"other", "module"}.isdisjoint(kinds):
        return None  # a method of an object that is no array, or a function of a module
    if kinds[1] == "unknown" and held not in work.given and not _are_literals(call.args[:1]):
        return None  # `xp.sum(x)`: what a call has given may be a module
    space = work.library("np") + ".ndarray" * (op in (np.ndarray.tolist, np.ndarray.item))
    function = expression(f"{space}.{call.func.attr}")
    return at(gast.Call(function, [call.func.value, *call.args], call.keywords), call)


def _extreme_of(call: Node, word: str, work: Rewriting) -> Node | None:
    """`max(l)`, `max(l) if len(l) > 0 else e` for `max(l, default=e)`, `l[np.argmax([g(v) for v in l])]` for `key=g`.

    What has no name is given one; a key is a function that has one, and of a dict the items are no places.
    """
    words = {word.arg: word.value for word in call.keywords}
    if not words.keys() <= {"default", "key"} or (len(call.args) > 1 and ("default" in words or not words)):
        return None
    whole = call.args[0] if len(call.args) == 1 else gast.List(call.args, gast.Load())
    key = None if getattr(words.get("key"), "value", "") is None else words.get("key")
    if key is None and "default" not in words:
        return _extreme(gast.Call(call.func, [whole], []), word, work)
    held = whole.id if isinstance(whole, gast.Name) else work.name("items")
    first = whole if isinstance(whole, gast.Name) else gast.NamedExpr(name(held, gast.Store()), _listed(whole, work))
    if key is not None and not _is_key(key, whole, work):
        return None
    if key is not None and "default" not in words:
        return _by_key(first, held, key, word, work)
    same = gast.Call(call.func, [name(held)], [])
    made = _extreme(same, word, work) if key is None else _by_key(name(held), held, key, word, work)
    return None if made is None else expression("a if len(b) > 0 else e", a=made, b=first, e=words["default"])


def _listed(whole: Node, work: Rewriting) -> Node:
    """An iterable as a list: what a generator, or a view of a dict, gives once."""
    if isinstance(whole, gast.GeneratorExp):
        return gast.ListComp(whole.elt, whole.generators)
    return whole if isinstance(whole, gast.List | gast.Tuple | gast.ListComp) else _items(whole, work)


def _is_key(key: Node, whole: Node, work: Rewriting) -> bool:
    """Whether a key has a name, and what it is asked of has its items by their places."""
    kind = work.facts.kinds.of_expressions.get(whole, UNKNOWN)
    known = kind.tag in ("list", "tuple", "array") or isinstance(whole, gast.List | gast.Tuple | gast.ListComp)
    return isinstance(key, gast.Name | gast.Attribute) and (known or isinstance(whole, gast.GeneratorExp))


def _by_key(first: Node, held: str, key: Node, word: str, work: Rewriting) -> Node:
    """`l[np.argmax([g(v) for v in l])]`, where `first` gives the list its name."""
    item, numpy = work.name("item"), work.library("np")
    each = gast.comprehension(name(item, gast.Store()), name(held), [], 0)
    keys = gast.ListComp(gast.Call(copy(key), [name(item)], []), [each])
    return expression(f"whole[{numpy}.arg{word}(keys)]", whole=first, keys=keys)


def _extreme(call: Node, word: str, work: Rewriting) -> Node | None:
    """`np.max(np.array(...))` of the items of a list or a generator; of a display, `max` of its items."""
    items = call.args[0]
    if isinstance(items, gast.List | gast.Tuple):
        if len(items.elts) < 2 or any(isinstance(e, gast.Starred) for e in items.elts):
            return None
        return gast.Call(call.func, items.elts, [])
    if _has_plain_items(items, work.facts):
        return None  # no item varies: Python's own call gives the item itself, which may be less than float64
    if isinstance(items, gast.GeneratorExp):
        listed: Node = gast.ListComp(items.elt, items.generators)
    else:
        listed = items if isinstance(items, gast.ListComp) else _items(items, work)
    return expression(f"{work.library('np')}.{word}({work.library('np')}.array(listed))", listed=listed)


def _has_plain_items(node: Node, facts: Facts) -> bool:
    """Whether an expression is a sequence of integers, or a list, tuple or range of the module."""
    kind = facts.kinds.of_expressions.get(node, UNKNOWN)
    if kind.tag in ("tuple", "list", "iterator") and kind.items and {k.dtype for _, k in kind.items} == {INTEGER.dtype}:
        return all(k.tag == INTEGER.tag for _, k in kind.items)
    found = binding_of(node, facts, facts.names.local) if isinstance(node, gast.Name | gast.Attribute) else None
    listed = found is not None and found.kind == "value" and kind.tag in ("tuple", "list")
    return listed or isinstance(getattr(found, "object", None), list | tuple | range)


def _items(whole: Node, work: Rewriting) -> Node:
    """`[item for item in whole]`"""
    item = work.name("item")
    each = gast.comprehension(name(item, gast.Store()), whole, [], 0)
    return gast.ListComp(name(item), [each])


def _display_of_repeat(node: Node, work: Rewriting) -> Node | None:
    """`[e] * 3` for a literal e, written out; `[e] * n` as a comprehension."""
    one, times = (node.left, node.right) if isinstance(node.left, gast.List) else (node.right, node.left)
    if not isinstance(one, gast.List) or not all(isinstance(e, gast.Constant) for e in one.elts):
        return None
    if len(one.elts) == 1 and isinstance(times, gast.Name | gast.Call):
        each = gast.comprehension(name(work.name("k"), gast.Store()), expression("range(n)", n=times), [], 0)
        return gast.ListComp(one.elts[0], [each])
    if not isinstance(times, gast.Constant) or type(times.value) is not int:
        return None
    if not 0 < times.value * len(one.elts) <= _MANY:
        return None
    return gast.List([copy(e) for _ in range(times.value) for e in one.elts], gast.Load())


def _separate(node: Node, work: Rewriting) -> None:
    """`a, b = [], {}` as two statements; `q = {**p, "k": e}` as a dict made anew, then `q["k"] = e`."""
    for key, block in _named_blocks(node):
        made: Block = []
        for inner in block:
            _separate(inner, work)
            made += _pair(inner, work) or _write_dict_merge(inner, work) or [inner]
        setattr(node, key, made)


def _pair(node: Node, work: Rewriting) -> Block | None:
    if not isinstance(node, gast.Assign) or len(node.targets) != 1 or not isinstance(node.value, gast.Tuple):
        return None
    places, values = getattr(node.targets[0], "elts", []), node.value.elts
    if len(places) != len(values) or not all(isinstance(p, gast.Name) for p in places):
        return None
    if not any(isinstance(v, _DISPLAYS) for v in values) or set(stores(node)) & set(loads(node.value)):
        return None
    return [work.bind(p.id, value, node) for p, value in zip(places, values, strict=True)]


def _write_dict_merge(node: Node, work: Rewriting) -> Block | None:
    value, bound = getattr(node, "value", None), target(node)
    if bound is None or not isinstance(value, gast.Dict) or not value.keys or value.keys[0] is not None:
        return None
    keys = [key for key in value.keys[1:] if key is not None]
    if len(keys) < len(value.keys) - 1 or not isinstance(value.values[0], gast.Name) or bound in loads(value):
        return None
    made = [work.bind(bound, _entries(value.values[0].id, None, work), node)]
    for key, item in zip(keys, value.values[1:], strict=True):
        put = statement("held[key] = item", held=bound, key=key, item=item)
        made.append(work.own(put, node))
    return made


def _entries(held: str, without: Node | None, work: Rewriting) -> Node:
    """The entries of a dict as a new one, perhaps but for one key."""
    key, item = work.name("key"), work.name("item")
    tests = [] if without is None else [expression("key != other", key=key, other=without)]
    both = gast.Tuple([name(key, gast.Store()), name(item, gast.Store())], gast.Store())
    each = gast.comprehension(both, expression(f"{held}.items()"), tests, 0)
    return gast.DictComp(name(key), name(item), [each])


def _spell_get(node: Node, dicts: set[str], work: Rewriting) -> None:
    """`d.get(k, e)` is `d[k] if k in d else e`."""
    rewrite_parts(node, lambda part: _answer(part, dicts, work))


def _answer(node: Node, dicts: set[str], work: Rewriting) -> Node:
    if not isinstance(node, gast.FunctionDef | gast.Lambda):
        _spell_get(node, dicts, work)
    held, method = _method_call(node)
    if held not in dicts or method != "get" or not 1 <= len(node.args) <= 2 or node.keywords:
        return node
    if not isinstance(node.args[0], gast.Name | gast.Constant):
        return node
    default = node.args[1] if len(node.args) == 2 else literal_node(None)
    asked = f"{held}[key] if key in {held} else default"
    return work.own(expression(asked, key=node.args[0], default=default), node)


def _method_call(call: Node | None) -> tuple[str, str]:
    """The name and the method of `name.method(...)`."""
    if isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute) and isinstance(call.func.value, gast.Name):
        return str(call.func.value.id), str(call.func.attr)
    return "", ""


def _statements(node: Node, dicts: set[str], lists: set[str], work: Rewriting) -> None:
    for key, block in _named_blocks(node):
        made: Block = []
        for inner in block:
            _statements(inner, dicts, lists, work)
            made += _write_key_removal(inner, dicts, work) or _write_list_copy(inner, lists, work) or [inner]
        setattr(node, key, made)


def _write_list_copy(node: Node, lists: set[str], work: Rewriting) -> Block | None:
    """`m = l[:]`, `m = l.copy()`, `m = l + [e]`, for a list l."""
    value, bound = getattr(node, "value", None), target(node)
    added: list[Node] = []
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Add) and isinstance(value.right, gast.List):
        value, added = value.left, value.right.elts
        whole = getattr(value, "id", "")
    elif isinstance(value, gast.Subscript) and isinstance(value.slice, gast.Slice):
        part = value.slice
        whole = getattr(value.value, "id", "") if part.lower is part.upper is part.step is None else ""
    else:
        whole, method = _method_call(value)
        whole = whole if method == "copy" else ""
    if bound is None or whole not in lists or bound in loads(node.value):
        return None
    more = [work.own(statement("held.append(item)", held=bound, item=item), node) for item in added]
    return [work.bind(bound, _items(name(whole), work), node), *more]


def _write_key_removal(node: Node, dicts: set[str], work: Rewriting) -> Block | None:
    """`del d[k]`, `v = d.pop(k)`, `d.setdefault(k, e)`."""
    if isinstance(node, gast.Delete) and len(node.targets) == 1 and isinstance(node.targets[0], gast.Subscript):
        part = node.targets[0]
        held, key = getattr(part.value, "id", ""), part.slice
        bound = work.name("last")
    elif isinstance(node, gast.Assign | gast.Expr):
        held, method = _method_call(node.value)
        args = node.value.args if method in ("pop", "setdefault") else []
        if held in dicts and method == "setdefault" and len(args) == 2 and isinstance(node, gast.Expr):
            put = work.own(statement("held[key] = item", held=held, key=copy(args[0]), item=args[1]), node)
            return [work.own(gast.If(expression("key not in held", held=held, key=args[0]), [put], []), node)]
        if method != "pop" or len(args) != 1:
            return None
        key = args[0]
        bound = str(target(node) or "") if isinstance(node, gast.Assign) else work.name("last")
    else:
        return None
    if held not in dicts or not bound or not isinstance(key, gast.Name | gast.Constant):
        return None
    rest, one, item = work.name("rest"), work.name("key"), work.name("item")
    put = work.own(statement(f"{held}[{one}] = {item}"), node)
    both = gast.Tuple([name(one, gast.Store()), name(item, gast.Store())], gast.Store())
    return [
        work.bind(bound, expression("held[key]", held=held, key=copy(key)), node),
        work.bind(rest, _entries(held, copy(key), work), node),
        work.bind(held, gast.Dict([], []), node),
        work.own(gast.For(both, expression(f"{rest}.items()"), [put], [], None), node),
    ]


_MOST = 64  # items of a display that are still read as one
_LAZY = (gast.Lambda, gast.ListComp, gast.GeneratorExp, gast.SetComp, gast.DictComp, gast.IfExp, gast.BoolOp)


def repeats(node: Node, work: Rewriting) -> Block:
    """Spell repeated displays of a statement's value; the statements that compute their items once.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> print(explain_text("def f(x):\\n    y = [x, 0.0] * 2\\n    return y[0] * y[2]", after="desugar"))
    def f(x):
        y = [x, 0.0, x, 0.0]
        return y[0] * y[2]
    """
    part = "iter" if isinstance(node, gast.For) else "value"
    before: Block = []
    kinds = gast.Assign | gast.Return | gast.AugAssign | gast.For
    if (
        isinstance(node, kinds)
        and getattr(node, part) is not None
        and holds(getattr(node, part), gast.List, gast.Tuple)
    ):
        setattr(node, part, _spelled_repeats(getattr(node, part), node, before, work))
    return before


def _spelled_repeats(value: Node, where: Node, before: Block, work: Rewriting) -> Node:
    if isinstance(value, _LAZY):
        return value
    rewrite_parts(value, lambda part: _spelled_repeats(part, where, before, work))
    shown, times = _repeated_display(value)
    if shown is None:
        return value
    work.facts.origin.foreign[where] = None
    items = [
        item if isinstance(item, gast.Constant | gast.Name) else _hold_item(item, where, before, work)
        for item in shown.elts
    ]
    return at(type(shown)([copy(item) for _ in range(times) for item in items], gast.Load()), value)


def _hold_item(item: Node, where: Node, before: Block, work: Rewriting) -> Node:
    held = work.name("item")
    before.append(work.bind(held, item, where))
    return at(name(held), item)


def _repeated_display(value: Node) -> tuple[Node | None, int]:
    """The display that an expression repeats, and how often; of constants alone it stays as it is."""
    if not isinstance(value, gast.BinOp) or not isinstance(value.op, gast.Mult):
        return None, 0
    for shown, times in ((value.left, value.right), (value.right, value.left)):
        count = times.value if isinstance(times, gast.Constant) and type(times.value) is int else -1
        if isinstance(shown, gast.List | gast.Tuple) and 0 < count * len(shown.elts) <= _MOST:
            steady = all(isinstance(item, gast.Constant) for item in shown.elts)
            starred = any(isinstance(item, gast.Starred) for item in shown.elts)
            return (None, 0) if steady or starred else (shown, count)
    return None, 0
