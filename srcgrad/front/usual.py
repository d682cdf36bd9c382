"""Usual ways to write lists and dicts, in terms of the few that the language has.

`dict(w=a)` is a display, `max(l)` of a list is that of an array, `del d[k]` and `{**d, "k": e}` make a dict anew, and
`d.get(k, e)` asks whether the key is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import gast
import numpy as np

from srcgrad.front.columns import columns
from srcgrad.front.dicts import displayed
from srcgrad.front.functions import function_of
from srcgrad.front.list_names import kinds_of_lists
from srcgrad.front.masked import masked
from srcgrad.front.resolve import METHODS, binding_of
from srcgrad.otherwise import written_out
from srcgrad.rules import rule_of
from srcgrad.trees import (
    BLOCKS,
    SIMPLE,
    Block,
    Node,
    constant,
    copy,
    expression,
    loads,
    name,
    statement,
    stores,
    target,
)

if TYPE_CHECKING:
    from srcgrad.front.plain import Plain

_DISPLAYS = (gast.List, gast.Dict, gast.ListComp, gast.DictComp)
_MANY = 64  # items that `[e] * n` may be spelled out to


def usual(function: Node, work: Plain) -> None:
    """Spell them out, first in expressions and then as statements, for names that hold dicts of this function."""
    _expressions(function, work)
    _separate(function, work)
    held = kinds_of_lists(function, work.facts)
    arguments = function.args
    given = {a.id for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
    dicts = {name for name, kind in held.items() if kind == "dict"}
    if dicts:
        _asked(function, dicts, work)
    _statements(function, dicts - given, set(held) - dicts, work)


def _blocks(node: Node) -> list[tuple[str, Block]]:
    return [(key, block) for key in BLOCKS if (block := getattr(node, key, None))]


def _expressions(node: Node, work: Plain) -> None:
    """Replace calls and products that are displays in other words, below a node."""
    for key in node._fields:
        part = getattr(node, key, None)
        if isinstance(part, list):
            setattr(node, key, [_expression(p, work) if isinstance(p, gast.AST) else p for p in part])
        elif isinstance(part, gast.AST):
            setattr(node, key, _expression(part, work))


def _expression(node: Node, work: Plain) -> Node:
    if not node._fields or isinstance(node, SIMPLE):
        return node
    if not isinstance(node, gast.FunctionDef | gast.Lambda):
        _expressions(node, work)
    made = None
    if isinstance(node, gast.Call) and any(word.arg in ("where", "initial") for word in node.keywords):
        made = masked(node, work)
    if made is None and isinstance(node, gast.Call) and isinstance(node.func, gast.Name):
        made = _called(node, work)
    elif made is None and isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute):
        made = _as_function(node, work)
    elif isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult):
        made = _repeated(node, work)
    elif isinstance(node, gast.Subscript):
        made = columns(node, work)
    return node if made is None else work.own(made, node)


def _called(call: Node, work: Plain) -> Node | None:
    made = displayed(call, work.facts)
    if made is not None:
        return made
    found = binding_of(call.func, work.facts, work.facts.local)
    function = None if found is None else found.object
    if function is list and not call.args and not call.keywords:
        return gast.List([], gast.Load())
    if function in (max, min) and len(call.args) == 1 and not call.keywords:
        return _extreme(call, "max" if function is max else "min", work)
    if function is list and len(call.args) == 1 and isinstance(call.args[0], gast.Name):
        return _items(call.args[0], work)
    return None


def _as_function(call: Node, work: Plain) -> Node | None:
    """`np.cumprod(x)` for `x.cumprod()`: an op that is written out with others is called as a function."""
    op = METHODS.get(call.func.attr)
    rule = rule_of(op)
    if rule is None or function_of(call.func, work.facts, work.facts.local) is not None:
        return None
    if rule.composition is None and written_out(rule, [call.func.value, *call.args], call.keywords) is None:
        return None
    owner = call.func.value
    known = binding_of(owner, work.facts, work.facts.local)
    kind = work.facts.kinds.get(getattr(owner, "id", ""))
    if (known is not None and not isinstance(known.object, np.ndarray)) or (kind is not None and kind.tag == "other"):
        return None  # a method of an object that is no array
    function = expression(f"{work.library('np')}.{call.func.attr}")
    return gast.Call(function, [call.func.value, *call.args], call.keywords)


def _extreme(call: Node, word: str, work: Plain) -> Node | None:
    """`np.max(np.array(...))` of the items of a list or a generator; of a display, `max` of its items."""
    items = call.args[0]
    if isinstance(items, gast.List | gast.Tuple):
        if len(items.elts) < 2 or any(isinstance(e, gast.Starred) for e in items.elts):
            return None
        return gast.Call(call.func, items.elts, [])
    if isinstance(items, gast.GeneratorExp):
        listed: Node = gast.ListComp(items.elt, items.generators)
    else:
        listed = items if isinstance(items, gast.ListComp) else _items(items, work)
    return expression(f"{work.library('np')}.{word}({work.library('np')}.array(listed))", listed=listed)


def _items(whole: Node, work: Plain) -> Node:
    """`[item for item in whole]`"""
    item = work.name("item")
    each = gast.comprehension(name(item, gast.Store()), whole, [], 0)
    return gast.ListComp(name(item), [each])


def _repeated(node: Node, work: Plain) -> Node | None:
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


def _separate(node: Node, work: Plain) -> None:
    """`a, b = [], {}` as two statements; `q = {**p, "k": e}` as a dict made anew, then `q["k"] = e`."""
    for key, block in _blocks(node):
        made: Block = []
        for inner in block:
            _separate(inner, work)
            made += _pair(inner, work) or _merged(inner, work) or [inner]
        setattr(node, key, made)


def _pair(node: Node, work: Plain) -> Block | None:
    if not isinstance(node, gast.Assign) or len(node.targets) != 1 or not isinstance(node.value, gast.Tuple):
        return None
    places, values = getattr(node.targets[0], "elts", []), node.value.elts
    if len(places) != len(values) or not all(isinstance(p, gast.Name) for p in places):
        return None
    if not any(isinstance(v, _DISPLAYS) for v in values) or set(stores(node)) & set(loads(node.value)):
        return None
    return [work.bind(p.id, value, node) for p, value in zip(places, values, strict=True)]


def _merged(node: Node, work: Plain) -> Block | None:
    value, bound = getattr(node, "value", None), target(node)
    if bound is None or not isinstance(value, gast.Dict) or not value.keys or value.keys[0] is not None:
        return None
    if None in value.keys[1:] or not isinstance(value.values[0], gast.Name) or bound in loads(value):
        return None
    made = [work.bind(bound, _entries(value.values[0].id, None, work), node)]
    for key, item in zip(value.keys[1:], value.values[1:], strict=True):
        put = statement("held[key] = item", held=bound, key=key, item=item)
        made.append(work.own(put, node))
    return made


def _entries(held: str, without: Node | None, work: Plain) -> Node:
    """The entries of a dict as a new one, perhaps but for one key."""
    key, item = work.name("key"), work.name("item")
    tests = [] if without is None else [expression("key != other", key=key, other=without)]
    both = gast.Tuple([name(key, gast.Store()), name(item, gast.Store())], gast.Store())
    each = gast.comprehension(both, expression(f"{held}.items()"), tests, 0)
    return gast.DictComp(name(key), name(item), [each])


def _asked(node: Node, dicts: set[str], work: Plain) -> None:
    """`d.get(k, e)` is `d[k] if k in d else e`."""
    for key in node._fields:
        part = getattr(node, key, None)
        if isinstance(part, list):
            setattr(node, key, [_answer(p, dicts, work) if isinstance(p, gast.AST) else p for p in part])
        elif isinstance(part, gast.AST):
            setattr(node, key, _answer(part, dicts, work))


def _answer(node: Node, dicts: set[str], work: Plain) -> Node:
    if not isinstance(node, gast.FunctionDef | gast.Lambda):
        _asked(node, dicts, work)
    held, method = _method(node)
    if held not in dicts or method != "get" or not 1 <= len(node.args) <= 2 or node.keywords:
        return node
    if not isinstance(node.args[0], gast.Name | gast.Constant):
        return node
    default = node.args[1] if len(node.args) == 2 else constant(None)
    asked = f"{held}[key] if key in {held} else default"
    return work.own(expression(asked, key=node.args[0], default=default), node)


def _method(call: Node) -> tuple[str, str]:
    """The name and the method of `name.method(...)`."""
    if isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute) and isinstance(call.func.value, gast.Name):
        return str(call.func.value.id), str(call.func.attr)
    return "", ""


def _statements(node: Node, dicts: set[str], lists: set[str], work: Plain) -> None:
    for key, block in _blocks(node):
        made: Block = []
        for inner in block:
            _statements(inner, dicts, lists, work)
            made += _removed(inner, dicts, work) or _copied(inner, lists, work) or [inner]
        setattr(node, key, made)


def _copied(node: Node, lists: set[str], work: Plain) -> Block | None:
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
        whole, method = _method(value)
        whole = whole if method == "copy" else ""
    if bound is None or whole not in lists or bound in loads(node.value):
        return None
    more = [work.own(statement("held.append(item)", held=bound, item=item), node) for item in added]
    return [work.bind(bound, _items(name(whole), work), node), *more]


def _removed(node: Node, dicts: set[str], work: Plain) -> Block | None:
    """`del d[k]`, `v = d.pop(k)`, `d.setdefault(k, e)`."""
    if isinstance(node, gast.Delete) and len(node.targets) == 1 and isinstance(node.targets[0], gast.Subscript):
        part = node.targets[0]
        held, key = getattr(part.value, "id", ""), part.slice
        bound = work.name("last")
    elif isinstance(node, gast.Assign | gast.Expr):
        held, method = _method(node.value)
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
