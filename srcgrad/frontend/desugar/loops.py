"""Desugaring of loops: comprehensions, and several things at once.

Comprehensions, `map` and `filter`: loops that fill a list or a dict before the statement that reads it.

Loops over several things at once, `zip`, `enumerate`, `reversed`, `d.items()`: a count, and items read by it.
"""

from __future__ import annotations

import inspect
from dataclasses import field
from types import FunctionType
from typing import TYPE_CHECKING

import gast

from srcgrad.core.bindings import Binding
from srcgrad.core.facts import UNKNOWN, Kind
from srcgrad.core.identity import record
from srcgrad.core.rules import rule_of, written_out
from srcgrad.core.trees import (
    SIMPLE,
    Block,
    Node,
    at,
    copy,
    expression,
    find_nodes,
    header,
    is_write,
    name,
    names_in,
    same_tree,
    statement,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.core.visitor import rewrite_parts, rewrite_statements
from srcgrad.frontend.desugar.assignments import unpack_sequence
from srcgrad.frontend.desugar.numpy_spellings import builtin_name
from srcgrad.frontend.kinds_of_values import each_of
from srcgrad.frontend.resolve import binding_of

if TYPE_CHECKING:
    from srcgrad.frontend.context import Rewriting


COMPREHENSIONS = (gast.ListComp, gast.GeneratorExp, gast.DictComp, gast.SetComp)
_CONSUMERS = (sum, min, max, any, all, list, tuple, sorted)


def expand_comprehensions(node: Node, work: Rewriting) -> Block:
    """The loops that compute the comprehensions of a statement, whose places names take."""
    made: Block = []
    for key in ("test", "iter", "value", "exc"):
        part = getattr(node, key, None)
        if isinstance(part, gast.AST) and _may_fill(part, work):
            setattr(node, key, _fill_comprehensions(part, node, made, work))
    if made:
        work.facts.origin.foreign[node] = None
    return made


def _may_fill(part: Node, work: Rewriting) -> bool:
    """Whether there is anything in an expression that `_fill_comprehensions` knows: most have nothing."""
    return bool(work.lists) or any(
        not isinstance(n, gast.Call) or isinstance(n.func, gast.Name) or getattr(n.func, "attr", "") == "values"
        for n in find_nodes(part, gast.List, gast.ListComp, gast.DictComp, gast.GeneratorExp, gast.Call)
    )


def has_comprehension(node: Node, work: Rewriting) -> bool:
    """Whether some part of a statement's header is a comprehension, or a call of `map` or `filter`."""
    return any(isinstance(n, COMPREHENSIONS) or _maps(n, work) for part in header(node) for n in walk(part))


def _maps(node: Node, work: Rewriting) -> str:
    """`map` or `filter`, if that is what a call calls."""
    if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Name) or node.keywords:
        return ""
    found = binding_of(node.func, work.facts, work.facts.names.local)
    if found is None or len(node.args) < 2:
        return ""
    return "map" if found.object is map else "filter" if found.object is filter else ""


def _check_used_once(call: Node, work: Rewriting) -> None:
    """Refuse a `map` or `filter` that may be gone through a second time, when nothing of it is left, or late.

    A list is computed in its place, which does not end, and does not see what changes before it is read.
    """
    tree = work.facts.source.tree
    placed = (getattr(call, "lineno", 0), getattr(call, "col_offset", -1))
    same = [n for n in find_nodes(tree, gast.Call) if (getattr(n, "lineno", 0), getattr(n, "col_offset", 0)) == placed]
    same = [n for n in same if same_tree(n.func, call.func)]
    used = {n.id for one in same for n in find_nodes(one, gast.Name)}
    if same and not _Iterator(tree, work, used).is_consumed_once(same[0]):
        raise work.facts.refuse(
            call,
            "E5005",
            f"an iterator of `{call.func.id}` that may be read again, late or elsewhere is not accepted",
            f"make a list: `list({gast.unparse(same[0])})`",
        )


class _Iterator:
    """How a function reads an iterator: its tree, what stands around each part of it, and names that it is made of."""

    def __init__(self, tree: Node, work: Rewriting, used: set[str]) -> None:
        self.tree, self.work, self.used = tree, work, used
        self.around = {part: node for node in walk(tree) for part in gast.iter_child_nodes(node)}

    def is_consumed_once(self, read: Node) -> bool:
        """Whether the place of an iterator consumes it, or names it for one place that does."""
        place = self.around[read]
        while isinstance(place, gast.keyword) or (isinstance(place, gast.IfExp) and read is not place.test):
            read, place = place, self.around[place]
        if isinstance(place, gast.Call):
            return read is place.func or self._is_consumed_by(place, read)
        if isinstance(place, gast.Assign) and read is place.value:
            first = place.targets[0]
            named = len(place.targets) == 1 and isinstance(first, gast.Name)
            return self._is_read_once(first.id, place) if named else isinstance(first, gast.Tuple | gast.List)
        if isinstance(place, gast.For):
            return not self._changes_in(statements(place.body))
        if isinstance(place, gast.Tuple) and isinstance(self.around[place], gast.Assign):
            return self._is_taken_apart(self.around[place], place, place.elts.index(read))
        return isinstance(place, gast.comprehension | gast.Compare | gast.Starred)

    def _is_taken_apart(self, node: Node, value: Node, place: int) -> bool:
        """Whether an item of `a, (b, c) = e, map(f, x)` is unpacked where it stands, and nothing before changes x."""
        first = node.targets[0]
        if value is not node.value or len(node.targets) > 1 or not isinstance(first, gast.Tuple | gast.List):
            return False
        if len(first.elts) != len(value.elts) or not isinstance(first.elts[place], gast.Tuple | gast.List):
            return False
        before = [n.id for part in first.elts[:place] for n in find_nodes(part, gast.Name)]
        return self.used.isdisjoint(before) and not find_nodes(node, gast.NamedExpr)

    def _changes_in(self, block: Block) -> bool:
        """Whether statements change what the iterator reads as it goes on."""
        return any(one in self.used for node in block for one in [*stores(node), *written_names(node)])

    def _is_consumed_by(self, call: Node, read: Node) -> bool:
        """Whether a called function goes through what it is given once: those that are not of the user do."""
        found = binding_of(call.func, self.work.facts, self.work.facts.names.local)
        inner = [n for n in find_nodes(self.tree, gast.FunctionDef) if n.name == getattr(call.func, "id", "")]
        if found is not None and isinstance(found.object, FunctionType) and rule_of(found.object) is None:
            inner = [self.work.facts.module.source(found.object)[0].tree]
        if not inner or not isinstance(inner[0], gast.FunctionDef):
            return found is not None or isinstance(call.func, gast.Attribute)
        spelled = [a.id for a in [*inner[0].args.posonlyargs, *inner[0].args.args]]
        place = call.args.index(read) if read in call.args else len(spelled)
        held = read.arg if isinstance(read, gast.keyword) else "".join(spelled[place : place + 1])
        return not held or _Iterator(inner[0], self.work, set())._is_read_once(held, None)

    def _is_read_once(self, held: str, bound: Node | None) -> bool:
        """Whether a name is read once at most, in no loop of its own, where nothing has changed meanwhile."""
        order, home = statements(self.tree.body), None if bound is None else self.around.get(bound)
        start = -1 if bound is None else order.index(bound)
        stored = [k for k in range(len(order)) if k != start and held in stores(order[k])]
        if any(self.around[order[k]] is not home for k in stored):
            return False
        end = next((k for k in stored if k > start), len(order) - 1)
        place = {n: order.index(self._statement(n)) for n in self._loads(held)}
        reads = [n for n, k in place.items() if start < k <= end]
        around = None if bound is None else self._loop_around(bound)
        if (around is not None and len(reads) < len(place)) or (len(reads) > 1 and not self._are_apart(reads)):
            return False
        between = order[start + 1 : max((place[n] for n in reads), default=0)]
        if self._changes_in(between):
            return False
        return all(self._loop_around(n) is around and self.is_consumed_once(n) for n in reads)

    def _loads(self, held: str) -> list[Node]:
        return [n for n in find_nodes(self.tree, gast.Name) if n.id == held and isinstance(n.ctx, gast.Load)]

    def _statement(self, node: Node) -> Node:
        while not isinstance(node, gast.stmt):
            node = self.around[node]
        return node

    def _are_apart(self, reads: list[Node]) -> bool:
        """Whether each of several reads stands in a statement that returns, so that one of them is made."""
        places = list(dict.fromkeys(self._statement(n) for n in reads))
        return len(places) == len(reads) and all(isinstance(node, gast.Return) for node in places)

    def _loop_around(self, node: Node) -> Node | None:
        """The loop, function or comprehension in which a part is evaluated, maybe several times."""
        inside = node
        while (outer := self.around.get(inside)) is not None and outer is not self.tree:
            if isinstance(outer, gast.comprehension):
                held = self.around[outer]
                if inside is not outer.iter or outer is not held.generators[0]:
                    return held
                outer = held
            elif isinstance(outer, (*COMPREHENSIONS, gast.Lambda, gast.FunctionDef, gast.While, gast.For)):
                if not isinstance(outer, gast.For) or inside is not outer.iter:
                    return outer
            inside = outer
        return None


def _fill_comprehensions(value: Node, where: Node, made: Block, work: Rewriting) -> Node:
    """An expression with its comprehensions computed before it, those apart that may not be evaluated."""
    if not value._fields or isinstance(value, SIMPLE):
        return value
    if isinstance(value, gast.ListComp | gast.DictComp):
        own = target(where) if getattr(where, "value", None) is value else None
        return _loop(value, own, where, made, work)
    if isinstance(value, gast.GeneratorExp) and (_takes_apart(where, value) or _is_gone_through(where, value, work)):
        return _loop(value, None, where, made, work)
    if _maps(value, work):
        _check_used_once(value, work)
        return _loop(_as_comprehension(value, work), None, where, made, work)
    if isinstance(value, gast.IfExp):
        value.test = _fill_comprehensions(value.test, where, made, work)
        return value
    if isinstance(value, gast.BoolOp):
        value.values[0] = _fill_comprehensions(value.values[0], where, made, work)
        return value
    if isinstance(value, gast.Lambda | gast.GeneratorExp | gast.SetComp):
        return value
    if isinstance(value, gast.Call):
        return _call(value, where, made, work)
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Add) and _is_list(value, work):
        return _join_lists(value, where, made, work)
    rewrite_parts(value, lambda part: _fill_comprehensions(part, where, made, work))
    return value


def _takes_apart(where: Node, value: Node) -> bool:
    """Whether a statement is `a, b = (e for ...)`, which consumes its generator at once."""
    whole = isinstance(where, gast.Assign) and where.value is value
    return whole and all(isinstance(part, gast.Tuple | gast.List) for part in where.targets)


def _is_gone_through(where: Node, value: Node, work: Rewriting) -> bool:
    """Whether a loop is `for a, b in zip((e for ...), c)`, whose body changes nothing that its generator reads."""
    if not isinstance(where, gast.For):
        return False
    found = (
        binding_of(where.iter.func, work.facts, work.facts.names.local) if isinstance(where.iter, gast.Call) else None
    )
    goes = found is not None and found.object in (zip, enumerate)
    given = where.iter.args if goes else [where.iter]
    read = {n.id for n in find_nodes(value, gast.Name) if isinstance(n.ctx, gast.Load)}
    changed = {one for node in statements([where]) for one in [*stores(node), *written_names(node)]}
    return any(one is value for one in given) and not read & changed and not find_nodes(value, gast.NamedExpr)


def _is_values(item: Node, work: Rewriting) -> bool:
    """`d.values()` of a dict that the function made."""
    function = item.func if isinstance(item, gast.Call) else None
    if not isinstance(function, gast.Attribute) or function.attr != "values":
        return False
    return isinstance(function.value, gast.Name) and work.lists.get(function.value.id) == "dict"


def _is_list(value: Node, work: Rewriting) -> bool:
    """Whether an expression is a list for sure: a display, a comprehension, a name of a list, a sum of such."""
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Add):
        return _is_list(value.left, work) or _is_list(value.right, work)
    if isinstance(value, gast.Name):
        known = work.facts.kinds.of_expressions.get(value, UNKNOWN).tag  # the name may have been that of a list before
        sure = known == "list" or (known == "unknown" and value.id not in work.mixed)
        return work.lists.get(value.id) == "list" and sure
    return isinstance(value, gast.List | gast.ListComp)


def _join_lists(value: Node, where: Node, made: Block, work: Rewriting) -> Node:
    """`xs + [e]` as a new list, which gets the items of both."""
    held = work.name("values")
    work.lists[held] = "list"
    made.append(work.bind(held, gast.List(elts=[], ctx=gast.Load()), where))
    for part in (value.left, value.right):
        items = _fill_comprehensions(part, where, made, work)
        made += work.block([work.own(statement("held.extend(items)", held=held, items=items), where)])
    return at(name(held), value)


def _call(value: Node, where: Node, made: Block, work: Rewriting) -> Node:
    """A generator that a call consumes at once is a list; `list([...])` is that list."""
    found = binding_of(value.func, work.facts, work.facts.names.local)
    consumes = found is not None and any(found.object is one for one in _CONSUMERS)
    wanted = _place_of_items(value, found)
    value.func = _fill_comprehensions(value.func, where, made, work)
    for place, item in enumerate(value.args):
        if _is_values(item, work):
            one = work.name("item")
            part = gast.comprehension(name(one, gast.Store()), item, [], 0)
            item = at(gast.ListComp(name(one), [part]), item)
        if place == wanted and _loop_maker(item, work) in ("zip", "enumerate", "reversed", *_OF_DICTS):
            one = work.name("item")
            part = gast.comprehension(name(one, gast.Store()), item, [], 0)
            item = at(gast.ListComp(name(one), [part]), item)
        consumed = isinstance(item, gast.GeneratorExp) and consumes
        value.args[place] = (
            _loop(item, None, where, made, work) if consumed else _fill_comprehensions(item, where, made, work)
        )
    for word in value.keywords:
        word.value = _fill_comprehensions(word.value, where, made, work)
    if found is not None and found.object is list and len(value.args) == 1:
        if getattr(value.args[0], "id", "") in work.made and getattr(value.args[0], "id", "") in work.lists:
            made_list: Node = value.args[0]
            return made_list
    return value


def _place_of_items(call: Node, found: Binding | None) -> int | None:
    """Which argument of `sorted`, `min`, `max` with a key, and of `reduce` is gone through; None for other calls."""
    rule = None if found is None or found.kind != "object" else rule_of(found.object)
    written = None if rule is None else written_out(rule, call.args, call.keywords)
    names = [] if written is None else list(inspect.signature(written).parameters)
    return names.index("iterable") if "iterable" in names else None


def _as_comprehension(call: Node, work: Rewriting) -> Node:
    """`map(g, xs, ys)` and `filter(g, xs)` as comprehensions."""
    items = [work.name("item") for _ in call.args[1:]]
    applied = gast.Call(call.args[0], [name(item) for item in items], [])
    if len(items) == 1:
        bound, over = name(items[0], gast.Store()), call.args[1]
    else:
        bound = gast.Tuple(elts=[name(item, gast.Store()) for item in items], ctx=gast.Store())
        over = gast.Call(name("zip"), call.args[1:], [])
    if call.func.id == "filter":
        return at(gast.ListComp(name(items[0]), [gast.comprehension(bound, over, [applied], 0)]), call)
    return at(gast.ListComp(applied, [gast.comprehension(bound, over, [], 0)]), call)


def _loop(value: Node, own: str | None, where: Node, made: Block, work: Rewriting) -> Node:
    """The loops of one comprehension; the name that holds what they fill."""
    _rename(value, where, work)
    reads = names_in(value)
    held = own if own is not None and own not in reads and own in work.lists else work.name("values")
    if isinstance(value, gast.DictComp):
        part = expression("held[key]", held=held, key=value.key)
        part.ctx = gast.Store()
        inner: Node = gast.Assign([part], value.value, None)
        empty: Node = gast.Dict(keys=[], values=[])
        work.lists[held] = "dict"
    else:
        inner = statement("held.append(item)", held=held, item=value.elt)
        empty = gast.List(elts=[], ctx=gast.Load())
        work.lists[held] = "list"
    block: Block = [work.own(inner, where)]
    for part in reversed(value.generators):
        for test in reversed(part.ifs):
            block = [work.own(gast.If(test, block, []), where)]
        block = [work.own(gast.For(part.target, part.iter, block, [], None), where)]
    made.append(work.bind(held, empty, where))
    made += work.block(block)
    return at(name(held), value)


def _rename(value: Node, where: Node, work: Rewriting) -> None:
    """The variables of a comprehension are its own: where the function has the name too they get another one."""
    bound = {n.id for g in value.generators for n in find_nodes(g.target, gast.Name)}
    for old in bound:
        if old in work.used or old in work.facts.names.functions or old in work.facts.names.around:
            new = work.name(old)
            for item in _names_inside(value, old):
                item.id = new
        work.used |= {old}
        work.facts.names.local |= {old}
        work.made |= {old}


def _names_inside(value: Node, old: str) -> list[Node]:
    """Names below a comprehension, its first iterable apart, which is evaluated outside."""
    first = value.generators[0].iter
    outside = {id(n) for n in walk(first)}
    return [n for n in find_nodes(value, gast.Name) if n.id == old and id(n) not in outside]


_OF_DICTS = ("items", "values", "keys")


@record
class Trips:
    """What one loop runs over: how the items of trip `count` are read, and how many trips there are."""

    work: Rewriting
    loop: Node
    count: str
    before: Block = field(default_factory=list)
    lengths: list[Node] = field(default_factory=list)


def trips(loop: Node, work: Rewriting) -> Block:
    """`for a, b in zip(x, y)` as `for i in range(min(len(x), len(y)))`, which reads `x[i]` and `y[i]` first."""
    if _is_parallel(loop.iter, work):
        loop.iter.func = gast.copy_location(name("range"), loop.iter.func)
    kind = _loop_maker(loop.iter, work)
    if _is_iterator(loop.iter, work):
        loop.iter = gast.copy_location(expression("list(x)", x=loop.iter), loop.iter)
    if _is_part_of_list(loop.iter, loop, work):
        return _along_list(loop, work)
    if kind == "reversed" and _loop_maker(loop.iter.args[0], work) not in ("range", "enumerate", "zip", *_OF_DICTS):
        loop.iter = gast.copy_location(expression("x[::-1]", x=loop.iter.args[0]), loop.iter)
        kind = ""
    if kind == "keys":
        loop.iter = gast.copy_location(expression("list(d)", d=loop.iter.func.value), loop.iter)
    if isinstance(loop.iter, gast.Name) and (_is_dict(loop.iter, work) or _is_keyed(loop, work)):
        loop.iter = gast.copy_location(expression("list(d)", d=loop.iter), loop.iter)
    if kind in ("zip", "enumerate", "items", "values"):
        return _count_enumerate(loop, work)
    if isinstance(loop.target, gast.Tuple | gast.List):
        item = work.name("item")
        unpack = work.own(gast.Assign([loop.target], name(item), None), loop)
        loop.target = name(item, gast.Store())
        loop.body = [*(unpack_sequence(unpack, work) or [unpack]), *loop.body]
    elif isinstance(loop.target, gast.Name) and _takes_over(loop, _over_range(loop.iter, work), work):
        return _bound_in_body(loop, _over_range(loop.iter, work), work)
    return [loop]


def note_dicts(function: Node, work: Rewriting) -> None:
    """Note which arguments loops show to be dicts: a loop before these reads their keys as well."""
    for node in walk(function):
        if isinstance(node, gast.For | gast.comprehension):
            for call in find_nodes(node.iter, gast.Call):
                _loop_maker(call, work)


def _over_range(node: Node, work: Rewriting) -> bool:
    kind = _loop_maker(node, work)
    return kind == "range" or (kind == "reversed" and _over_range(node.args[0], work))


def _takes_over(loop: Node, counts: bool, work: Rewriting) -> bool:
    """Whether what a loop binds goes by the name of something else that is differentiated: `for x in x`."""
    bound = loop.target.id
    if counts:
        return bound in work.varied
    if isinstance(loop.iter, gast.List | gast.Tuple | gast.Set):
        return False  # the items are like what they are made of
    numbers = (
        work.facts.kinds.of_names.get(bound, UNKNOWN).tag,
        each_of(work.facts.kinds.of_expressions.get(loop.iter, UNKNOWN)).tag,
    )
    array = bound in work.given and any(tag not in ("scalar", "bool") for tag in numbers)
    return array or any(getattr(n, "id", "") == bound for n in walk(loop.iter))


def _bound_in_body(loop: Node, counts: bool, work: Rewriting) -> Block:
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
    bound = [n for part in [loop.target, *loop.body] for n in find_nodes(part, gast.Name)]
    return not any(n.id == loop.iter.id and isinstance(n.ctx, gast.Store) for n in bound)


def count_zipped_loops(block: Block, work: Rewriting) -> Block:
    """A block of a text of ours, whose loops over items and their tangents, `zip(x, x_dot)`, count."""

    def change(node: Node) -> Block:
        pairs = isinstance(node, gast.For) and isinstance(node.target, gast.Tuple)
        return trips(node, work) if pairs else [node]

    return rewrite_statements(block, change)


def _is_parallel(node: Node, work: Rewriting) -> bool:
    """Whether a loop is over Numba's `prange`, which is `range` to Python."""
    if not isinstance(node, gast.Call) or "prange" not in (
        getattr(node.func, "id", ""),
        getattr(node.func, "attr", ""),
    ):
        return False
    found = binding_of(node.func, work.facts, work.facts.names.local)
    home = "" if found is None else str(getattr(found.object, "__module__", None) or getattr(found, "reason", ""))
    return home.startswith("numba.") or "`from numba." in home  # of a text, its imports say so


def _is_dict(node: Node, work: Rewriting) -> bool:
    facts = work.facts
    known = (
        facts.kinds.of_expressions.get(node, facts.kinds.named.get(node.id, UNKNOWN)),
        facts.kinds.of_names.get(node.id, UNKNOWN),
    )
    return work.lists.get(node.id) == "dict" or any(kind.tag == "dict" for kind in known)


def _is_keyed(loop: Node, work: Rewriting) -> bool:
    """Whether the text shows an argument to be a dict: `for key in params`, and `params[key]` in the loop."""
    held, key = loop.iter.id, getattr(loop.target, "id", "")
    if not _reads_unknown_argument(loop.iter, work):
        return False
    parts = [n for node in loop.body for n in find_nodes(node, gast.Subscript)]
    found = any(getattr(n.value, "id", "") == held and getattr(n.slice, "id", None) == key for n in parts)
    if found:
        work.facts.kinds.of_names[held] = Kind("dict")  # no float is an index
    return found


def _reads_unknown_argument(read: Node, work: Rewriting) -> bool:
    """Whether a name that is read here is an argument of which nothing is known, not what it is bound to elsewhere."""
    held = getattr(read, "id", "")
    if held not in work.facts.request.wrt or work.facts.kinds.of_names.get(held, UNKNOWN) != UNKNOWN:
        return False
    return held not in work.bound or read in work.of_arguments


def _loop_maker(node: Node, work: Rewriting) -> str:
    """The name of the built-in function, or of the method of a dict, by which a loop is made."""
    if not isinstance(node, gast.Call):
        return ""
    function = node.func
    if isinstance(function, gast.Attribute) and function.attr in _OF_DICTS and not node.args:
        held = getattr(function.value, "id", "")
        if _reads_unknown_argument(function.value, work):
            work.facts.kinds.of_names[held] = Kind("dict")  # nothing else has items and keys
        return str(function.attr) if held else ""
    found = binding_of(function, work.facts, work.facts.names.local)
    for known in (zip, enumerate, reversed, range):
        if found is not None and found.object is known and node.args:
            return str(known.__name__)
    return ""


def _is_iterator(node: Node, work: Rewriting) -> bool:
    """Whether an expression makes an iterator, such as `itertools.product(...)`, which has no length."""
    found = binding_of(node.func, work.facts, work.facts.names.local) if isinstance(node, gast.Call) else None
    known = found is not None and any(found.object is one for one in (zip, enumerate, reversed, map, filter))
    return found is not None and not known and isinstance(found.object, type) and hasattr(found.object, "__next__")


def _is_part_of_list(node: Node, loop: Node, work: Rewriting) -> bool:
    """`reversed(x)`, whose items are read trip by trip; `x[2:]`, `x[::-1]` of a list that the loop does not change."""
    live = _loop_maker(node, work) == "reversed"
    held = node.args[0] if live else getattr(node, "value", None)
    if not isinstance(held, gast.Name) or not _is_sequence(held.id, work):
        return False
    part = getattr(node, "slice", None)
    if live or not isinstance(part, gast.Slice) or _places(part, held.id) is None:
        return live
    return not any(held.id in written_names(n) or _is_alone(n, held.id) for n in statements(loop.body))


def _is_alone(node: Node, held: str) -> bool:
    """Whether a statement may change a list: `x.append(e)`, `change(x)`."""
    return isinstance(node, gast.Expr) and any(getattr(n, "id", "") == held for n in walk(node.value))


def _is_sequence(held: str, work: Rewriting) -> bool:
    kind = work.facts.kinds.of_names.get(held)
    return work.lists.get(held) == "list" or (kind is not None and kind.tag in ("list", "tuple"))


def _places(part: Node, held: str) -> Node | None:
    """The places of `x[1:]`, `x[:-1]`, `x[2:-1]` and `x[::-1]`, as a range; None for other slices."""
    if part.step is not None:
        backwards = same_tree(part.step, expression("-1")) and part.lower is None and part.upper is None
        return expression(f"reversed(range(len({held})))") if backwards else None
    first = 0 if part.lower is None else getattr(part.lower, "value", None)
    cut = isinstance(part.upper, gast.UnaryOp) and isinstance(part.upper.op, gast.USub)
    left = getattr(part.upper.operand, "value", None) if cut else None
    if type(first) is not int or (part.upper is not None and type(left) is not int):
        return None
    begin, end = f"{first}, " if first else "", f" - {left}" if cut else ""
    return expression(f"range({begin}len({held}){end})")


def _along_list(loop: Node, work: Rewriting) -> Block:
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
    assert places is not None, "the caller has looked for them"
    loop.iter = gast.copy_location(places, loop.iter)
    loop.target = name(made.count, gast.Store())
    loop.body = [*head, *loop.body]
    return [*before, work.own(loop, loop)]


def _count_enumerate(loop: Node, work: Rewriting) -> Block:
    first = loop.target.elts[0] if isinstance(loop.target, gast.Tuple) else None
    counts = _loop_maker(loop.iter, work) == "enumerate" and len(loop.iter.args) == 1 and not loop.iter.keywords
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
    kind = _loop_maker(node, work)
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
            made.before.append(work.bind(again := work.name("items"), held, like))
            held = name(again)
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
    listed = node.id if isinstance(node, gast.Name) and not _rebinds(made.loop, node.id) else work.name("items")
    if not isinstance(node, gast.Name) or listed != node.id:
        made.before.append(work.bind(listed, node, like))
    made.lengths.append(expression(f"len({listed})"))
    if backwards:
        last = work.name("last")
        made.before.append(work.bind(last, expression(f"len({listed}) - 1"), like))
        return expression(f"{listed}[{last} - {made.count}]")
    return expression(f"{listed}[{made.count}]")


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
    return unpack_sequence(unpack, made.work) or [unpack]
