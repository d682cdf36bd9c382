"""Comprehensions, `map` and `filter`: loops that fill a list or a dict before the statement that reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gast

from srcgrad.facts import UNKNOWN
from srcgrad.front.resolve import binding_of
from srcgrad.trees import (
    SIMPLE,
    Block,
    Node,
    at,
    expression,
    header,
    inside,
    name,
    statement,
    statements,
    stores,
    target,
    walk,
    written,
)

if TYPE_CHECKING:
    from srcgrad.front.plain import Plain

COMPREHENSIONS = (gast.ListComp, gast.GeneratorExp, gast.DictComp, gast.SetComp)
_CONSUMERS = (sum, min, max, any, all, list, tuple, sorted)


def comprehended(node: Node, work: Plain) -> Block:
    """The loops that compute the comprehensions of a statement, whose places names take."""
    made: Block = []
    for key in ("test", "iter", "value", "exc"):
        part = getattr(node, key, None)
        if isinstance(part, gast.AST) and _may_fill(part, work):
            setattr(node, key, _filled(part, node, made, work))
    if made:
        work.facts.foreign[node] = None
    return made


def _may_fill(part: Node, work: Plain) -> bool:
    """Whether there is anything in an expression that `_filled` knows: most have nothing."""
    return bool(work.lists) or any(
        not isinstance(n, gast.Call) or isinstance(n.func, gast.Name) or getattr(n.func, "attr", "") == "values"
        for n in inside(part, gast.List, gast.ListComp, gast.DictComp, gast.GeneratorExp, gast.Call)
    )


def has_comprehension(node: Node, work: Plain) -> bool:
    """Whether some part of a statement's header is a comprehension, or a call of `map` or `filter`."""
    return any(isinstance(n, COMPREHENSIONS) or _maps(n, work) for part in header(node) for n in walk(part))


def _maps(node: Node, work: Plain) -> str:
    """`map` or `filter`, if that is what a call calls."""
    if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Name) or node.keywords:
        return ""
    found = binding_of(node.func, work.facts, work.facts.local)
    if found is None or len(node.args) < 2:
        return ""
    return "map" if found.object is map else "filter" if found.object is filter else ""


def _filled(value: Node, where: Node, made: Block, work: Plain) -> Node:
    """An expression with its comprehensions computed before it, those apart that may not be evaluated."""
    if not value._fields or isinstance(value, SIMPLE):
        return value
    if isinstance(value, gast.ListComp | gast.DictComp):
        own = target(where) if getattr(where, "value", None) is value else None
        return _loop(value, own, where, made, work)
    if isinstance(value, gast.GeneratorExp) and (_takes_apart(where, value) or _is_gone_through(where, value, work)):
        return _loop(value, None, where, made, work)
    if _maps(value, work):
        return _loop(_as_comprehension(value, work), None, where, made, work)
    if isinstance(value, gast.IfExp):
        value.test = _filled(value.test, where, made, work)
        return value
    if isinstance(value, gast.BoolOp):
        value.values[0] = _filled(value.values[0], where, made, work)
        return value
    if isinstance(value, gast.Lambda | gast.GeneratorExp | gast.SetComp):
        return value
    if isinstance(value, gast.Call):
        return _call(value, where, made, work)
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Add) and _is_list(value, work):
        return _joined(value, where, made, work)
    for key in value._fields:
        part = getattr(value, key, None)
        if isinstance(part, list):
            setattr(value, key, [_filled(p, where, made, work) if isinstance(p, gast.AST) else p for p in part])
        elif isinstance(part, gast.AST):
            setattr(value, key, _filled(part, where, made, work))
    return value


def _takes_apart(where: Node, value: Node) -> bool:
    """Whether a statement is `a, b = (e for ...)`, which consumes its generator at once."""
    whole = isinstance(where, gast.Assign) and where.value is value
    return whole and all(isinstance(part, gast.Tuple | gast.List) for part in where.targets)


def _is_gone_through(where: Node, value: Node, work: Plain) -> bool:
    """Whether a loop is `for a, b in zip((e for ...), c)`, whose body changes nothing that its generator reads."""
    if not isinstance(where, gast.For):
        return False
    found = binding_of(where.iter.func, work.facts, work.facts.local) if isinstance(where.iter, gast.Call) else None
    goes = found is not None and found.object in (zip, enumerate)
    given = where.iter.args if goes else [where.iter]
    read = {n.id for n in inside(value, gast.Name) if isinstance(n.ctx, gast.Load)}
    changed = {one for node in statements([where]) for one in [*stores(node), *written(node)]}
    return any(one is value for one in given) and not read & changed and not inside(value, gast.NamedExpr)


def _is_values(item: Node, work: Plain) -> bool:
    """`d.values()` of a dict that the function made."""
    function = item.func if isinstance(item, gast.Call) else None
    if not isinstance(function, gast.Attribute) or function.attr != "values":
        return False
    return isinstance(function.value, gast.Name) and work.lists.get(function.value.id) == "dict"


def _is_list(value: Node, work: Plain) -> bool:
    """Whether an expression is a list for sure: a display, a comprehension, a name of a list, a sum of such."""
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Add):
        return _is_list(value.left, work) or _is_list(value.right, work)
    if isinstance(value, gast.Name):
        known = work.facts.of.get(value, UNKNOWN).tag  # the name may have been that of a list before
        return work.lists.get(value.id) == "list" and known in ("list", "unknown")
    return isinstance(value, gast.List | gast.ListComp)


def _joined(value: Node, where: Node, made: Block, work: Plain) -> Node:
    """`xs + [e]` as a new list, which gets the items of both."""
    held = work.name("values")
    work.lists[held] = "list"
    made.append(work.bind(held, gast.List(elts=[], ctx=gast.Load()), where))
    for part in (value.left, value.right):
        items = _filled(part, where, made, work)
        made += work.block([work.own(statement("held.extend(items)", held=held, items=items), where)])
    return at(name(held), value)


def _call(value: Node, where: Node, made: Block, work: Plain) -> Node:
    """A generator that a call consumes at once is a list; `list([...])` is that list."""
    found = binding_of(value.func, work.facts, work.facts.local)
    consumes = found is not None and any(found.object is one for one in _CONSUMERS)
    value.func = _filled(value.func, where, made, work)
    for place, item in enumerate(value.args):
        if _is_values(item, work):
            one = work.name("item")
            part = gast.comprehension(name(one, gast.Store()), item, [], 0)
            item = at(gast.ListComp(name(one), [part]), item)
        consumed = isinstance(item, gast.GeneratorExp) and consumes
        value.args[place] = _loop(item, None, where, made, work) if consumed else _filled(item, where, made, work)
    for word in value.keywords:
        word.value = _filled(word.value, where, made, work)
    if found is not None and found.object is list and len(value.args) == 1:
        if getattr(value.args[0], "id", "") in work.made and getattr(value.args[0], "id", "") in work.lists:
            return value.args[0]
    return value


def _as_comprehension(call: Node, work: Plain) -> Node:
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


def _loop(value: Node, own: str | None, where: Node, made: Block, work: Plain) -> Node:
    """The loops of one comprehension; the name that holds what they fill."""
    _rename(value, where, work)
    reads = {n.id for n in walk(value) if isinstance(n, gast.Name)}
    held = own if own is not None and own not in reads and own in work.lists else work.name("values")
    if isinstance(value, gast.DictComp):
        part = expression("held[key]", held=held, key=value.key)
        part.ctx = gast.Store()
        inner = gast.Assign([part], value.value, None)
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


def _rename(value: Node, where: Node, work: Plain) -> None:
    """The variables of a comprehension are its own: where the function has the name too they get another one."""
    bound = {n.id for g in value.generators for n in walk(g.target) if isinstance(n, gast.Name)}
    for old in bound:
        if old in work.used or old in work.facts.functions or old in work.facts.around:
            new = work.name(old)
            for item in _inside(value, old):
                item.id = new
        work.used |= {old}
        work.facts.local |= {old}
        work.made |= {old}


def _inside(value: Node, old: str) -> list[Node]:
    """Names below a comprehension, its first iterable apart, which is evaluated outside."""
    first = value.generators[0].iter
    outside = {id(n) for n in walk(first)}
    return [n for n in walk(value) if isinstance(n, gast.Name) and n.id == old and id(n) not in outside]
