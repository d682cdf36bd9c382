"""Desugaring of NumPy in terms of operations with rules: `out=`, `where=`, `np.r_` and others.

Calls that fill an array, `out=`, `np.copyto`, `np.put`, `a.fill`, `a.sort`, `np.add.at`, are writes; operations on a
part of the elements, `np.piecewise` and ufuncs with `where=`, are spelled out before, as are reductions with `where=`
and `initial=`. The namespace that a function asks its arguments for, as SciPy's do, is NumPy. Python's own functions
mean themselves also where the user has others by their names.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING  # called functions are arbitrary objects

import gast
import numpy as np

from srcgrad.core.facts import UNKNOWN, Facts
from srcgrad.core.rules import rule_of
from srcgrad.core.trees import (
    Block,
    Node,
    at,
    copy,
    expression,
    find_nodes,
    holds,
    literal_node,
    name,
    root,
    statement,
    statements,
    stores,
    target,
    walk,
)
from srcgrad.core.visitor import SOMETIMES, rewrite, rewrite_parts, rewrite_statements
from srcgrad.frontend.calls.functions import function_of
from srcgrad.frontend.resolve import METHODS, binding_of, parameters_of, place_of_out, takes_out

if TYPE_CHECKING:
    from srcgrad.frontend.context import Rewriting


def array_api(function: Node, facts: Facts) -> None:
    """Write NumPy for a local name that `array_namespace` gives, and drop the call.

    `xp_promote(x, force_floating=True, xp=xp)` becomes `np.asarray(x)`: what is differentiated is floating;
    `xp.astype(x, dtype)` becomes the method.

    Before, in a module that imports both functions from SciPy's `_array_api`:

        xp = array_namespace(x)
        x = xp_promote(x, force_floating=True, xp=xp)
        return xp.sum(x * x)

    and after:

        x = np.asarray(x)
        return np.sum(x * x)
    """
    local = frozenset(s for node in statements(function.body) for s in stores(node))
    bound = [s for node in statements(function.body) for s in stores(node)]
    names = {
        held: None
        for node in statements(function.body)
        if (held := target(node)) is not None
        and bound.count(held) == 1
        and _calls(node.value, "array_namespace", facts, local)
    }
    if names:
        facts.library_in_text("np")  # a module may have no NumPy of its own
        function.body = rewrite_statements(function.body, lambda node: _statement(node, names, facts, local))


def _calls(node: Node, called: str, facts: Facts, local: frozenset[str]) -> bool:
    """Whether an expression is a call of the array API's function of that name."""
    if not isinstance(node, gast.Call):
        return False
    found = binding_of(node.func, facts, local)
    if found is None:
        return False
    if found.static is not None:
        home, own = found.static.module.name, found.static.qualname
    else:
        home, own = str(getattr(found.object, "__module__", "")), getattr(found.object, "__name__", "")
    is_home = any(part.startswith("_array_api") or part == "array_api_compat" for part in home.split("."))
    return own == called and is_home


def _statement(node: Node, names: dict[str, None], facts: Facts, local: frozenset[str]) -> Block:
    if target(node) in names:
        return []
    if _reads(node, names):
        facts.origin.foreign[node] = None
        rewrite_parts(node, lambda part: _replace_xp(part, names, facts, local))
    return [node]


def _reads(node: Node, names: dict[str, None]) -> bool:
    return any(isinstance(item, gast.Name) and item.id in names for item in walk(node))


def _replace_xp(node: Node, names: dict[str, None], facts: Facts, local: frozenset[str]) -> Node:
    if not isinstance(node, gast.AST) or not _reads(node, names):
        return node
    if isinstance(node, gast.Name):
        return at(name(facts.library("np")), node)
    if _calls(node, "xp_promote", facts, local) and len(node.args) == 1 and _only_promotes(node):
        asked = expression(f"{facts.library('np')}.asarray(x)", x=node.args[0])
        for item in walk(asked):
            if item is not node.args[0] and hasattr(item, "lineno"):
                at(item, node)
        return at(asked, node)
    if _is_astype(node, names):
        whole = node.args.pop(0)
        node.func = at(gast.Attribute(value=whole, attr="astype", ctx=node.func.ctx), node.func)
    rewrite_parts(node, lambda part: _replace_xp(part, names, facts, local))
    return node


def _is_astype(node: Node, names: dict[str, None]) -> bool:
    """Whether a node is `xp.astype(x, dtype)`: NumPy's own namespace has that from version 2.1 on only."""
    if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Attribute) or not node.args:
        return False
    held = node.func.value
    return node.func.attr == "astype" and isinstance(held, gast.Name) and held.id in names


def _only_promotes(call: Node) -> bool:
    """Whether a call of `xp_promote` asks for floats and for nothing else."""
    return all(word.arg in ("xp", "force_floating") for word in call.keywords)


_INSIDE: dict[object, float] = {
    np.arccosh: 2.0
}  # a number at which an operation is smooth, for those that are not at 0.5


def expand_calls(node: Node, work: Rewriting) -> Block:
    """The statements that such calls of a statement stand for, of those that are made in any case.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "import numpy as np\\ndef f(x):\\n    return np.log(x, out=np.zeros_like(x), where=x > 0.0)"
    >>> print(explain_text(text, after="desugar"))
    def f(x):
        kept = x > 0.0
        return np.where(kept, np.log(np.where(kept, x, 0.5)), np.zeros_like(x))
    """
    made: Block = []
    held = isinstance(node, gast.Assign | gast.AugAssign | gast.Return | gast.Expr | gast.AnnAssign) and node.value
    if held and any(_may_be(part) for part in find_nodes(node, gast.Call)):
        rewrite(node, partial(_expand_call, node=node, made=made, work=work), SOMETIMES)
    return made


def _may_be(call: Node) -> bool:
    """Whether a call has what both forms have, whatever its function is called."""
    return len(call.args) > 1 or any(word.arg in ("out", "where") for word in call.keywords)


def _expand_call(part: Node, node: Node, made: Block, work: Rewriting) -> Node:
    found = binding_of(part.func, work.facts, work.facts.names.local) if isinstance(part, gast.Call) else None
    if found is None:
        return part
    other = None
    if found.object is np.piecewise:
        other = _expand_piecewise(part, node, made, work)
    elif any(found.object is one for one in (np.atleast_1d, np.atleast_2d, np.atleast_3d)):
        if len(part.args) > 1 and not holds(part, gast.Starred):
            other = gast.Tuple([gast.Call(copy(part.func), [one], []) for one in part.args], gast.Load())
    elif isinstance(found.object, np.ufunc):
        out = next((w.value for w in part.keywords if w.arg == "out"), None)
        filled = isinstance(out, gast.Call)
        if (out is None or gast.unparse(out) == "None") and len(part.args) == found.object.nin:
            out, filled = expression(f"{work.library('np')}.nan"), True  # NumPy leaves there what the memory held
        if out is not None and filled:
            other = where_for_mask(part, out, found.object, node, made, work)
    if other is None:
        return part
    work.facts.origin.foreign[node] = None
    return work.own(other, part)


def where_for_mask(call: Node, out: Node, called: object, node: Node, made: Block, work: Rewriting) -> Node | None:
    """`np.where(m, f(np.where(m, x, 0.5)), out)` for `f(x, out=out, where=m)`; None where there is no `where=`.

    The operands that nobody asked for are set to a number at which f is smooth, so that what it has there,
    `1 / 0` say, reaches no derivative.
    """
    words = {w.arg: w.value for w in call.keywords if w.arg not in ("out", "casting")}
    if set(words) != {"where"} or not isinstance(called, np.ufunc) or called.nout != 1 or called.signature is not None:
        return None
    numpy, mask = work.library("np"), words["where"]
    if not isinstance(mask, gast.Name | gast.Constant):
        kept = work.name("kept")
        made.append(work.bind(kept, mask, node))
        mask = name(kept)
    other = harmless_number(called)
    operands = [
        copy(x)
        if isinstance(x, gast.Constant)
        else expression(f"{numpy}.where(m, x, e)", m=copy(mask), x=copy(x), e=copy(other))
        for x in call.args
    ]
    value = at(gast.Call(copy(call.func), operands, []), call)
    return expression(f"{numpy}.where(m, value, out)", m=copy(mask), value=value, out=copy(out))


def harmless_number(called: object) -> Node:
    """A number at which an operation on elements is smooth, in each of its operands."""
    return literal_node(_INSIDE.get(called, 0.5))


def _expand_piecewise(call: Node, node: Node, made: Block, work: Rewriting) -> Node | None:
    """`y = np.zeros_like(x)`, then `y[c] = f(x[c])` for each condition in turn; what holds for the rest comes first."""
    if len(call.args) < 3 or not all(isinstance(part, gast.List | gast.Tuple) for part in call.args[1:3]):
        return None
    conditions, values = call.args[1].elts, call.args[2].elts
    if not len(conditions) <= len(values) <= len(conditions) + 1 or any(
        isinstance(part, gast.Starred | gast.Constant) for part in conditions
    ):
        return None
    numpy = work.library("np")
    over, piece = work.name("over"), work.name("piece")
    masks = [work.name("kept") for _ in conditions]
    made.append(work.bind(over, expression(f"{numpy}.asarray(x)", x=call.args[0]), node))
    made += [work.bind(one, part, node) for one, part in zip(masks, conditions, strict=True)]
    made.append(work.bind(piece, expression(f"{numpy}.zeros_like({over})"), node))
    if len(values) > len(conditions):
        rest = work.name("rest")
        none = expression("~(m)", m=name(masks[0]))
        for one in masks[1:]:
            none = gast.BinOp(none, gast.BitAnd(), expression("~(m)", m=name(one)))
        made.append(work.bind(rest, none, node))
        values, masks = [values[-1], *values[:-1]], [rest, *masks]
    for one, value in zip(masks, values, strict=True):
        given = copy(value)
        if function_of(value, work.facts, work.facts.names.local) is not None:
            given = gast.Call(given, [expression(f"{over}[{one}]"), *map(copy, call.args[3:])], [])
            given.keywords = [gast.keyword(word.arg, copy(word.value)) for word in call.keywords]
        elif not isinstance(value, gast.Constant | gast.UnaryOp):
            raise work.facts.refuse(
                value, "E5005", "a piece that is no function that is known here", "give a function by its name"
            )
        put = statement(f"{piece}[{one}] = value", value=given)
        made.append(work.own(put, node))
    return name(piece)


__all__ = ["expand_calls", "where_for_mask"]


def columns(node: Node, work: Rewriting) -> Node | None:
    """`np.concatenate([np.atleast_1d(a), [0.0], np.atleast_1d(b)])`; None where the expression stays as it is.

    What is sure to have one axis is taken as it is; columns of what may have three are joined along the last axis.
    """
    found = binding_of(node.value, work.facts, work.facts.names.local)
    kind = None if found is None else found.object
    if kind is not np.r_ and kind is not np.c_:
        return None
    numpy = work.library("np")
    items = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
    ranks = [_rank(item, work) for item in items]
    spelled = [_item(item, rank, kind is np.r_, numpy) for item, rank in zip(items, ranks, strict=True)]
    made = [one for one in spelled if one is not None]
    if len(made) < len(spelled):
        return None
    parts = gast.List(elts=made, ctx=gast.Load())
    if kind is np.r_:
        return expression(f"{numpy}.concatenate(parts)", parts=parts)
    if all(rank is not None and rank <= 2 for rank in ranks):
        return expression(f"{numpy}.column_stack(parts)", parts=parts)
    parts.elts = [expression(f"{numpy}.column_stack([a])", a=one) for one in made]
    return expression(f"{numpy}.concatenate(parts, axis=-1)", parts=parts)


def _item(item: Node, rank: int | None, flat: bool, numpy: str) -> Node | None:
    if isinstance(item, gast.Slice):
        return _steps(item, numpy)
    if isinstance(item, gast.Constant) and not isinstance(item.value, int | float | complex):
        return None  # how to join, in words
    if isinstance(item, gast.Starred):
        return None
    if rank == 0:
        return gast.List(elts=[copy(item)], ctx=gast.Load())
    return copy(item) if rank or not flat else expression(f"{numpy}.atleast_1d(a)", a=copy(item))


def _steps(item: Node, numpy: str) -> Node | None:
    """`0:1:5j` as `np.linspace(0, 1, 5)`, `a:b` as `np.arange(a, b)`."""
    if item.upper is None:
        return None
    lower = copy(item.lower) if item.lower is not None else expression("0")
    if isinstance(item.step, gast.Constant) and isinstance(item.step.value, complex):
        count = gast.Constant(int(abs(item.step.value)), None)
        return expression(f"{numpy}.linspace(a, b, n)", a=lower, b=copy(item.upper), n=count)
    made = expression(f"{numpy}.arange(a, b)", a=lower, b=copy(item.upper))
    made.args += [] if item.step is None else [copy(item.step)]
    return made


def _rank(item: Node, work: Rewriting) -> int | None:
    """How many axes an expression has, where that is sure."""
    if isinstance(item, gast.Slice):
        return 1
    if isinstance(item, gast.Constant):
        return 0
    if isinstance(item, gast.Name):
        kind = work.facts.kinds.of_names.get(item.id)
        known = kind is not None and kind.tag in ("array", "scalar") and item.id not in work.bound
        return kind.ndim if known and kind is not None else None
    if isinstance(item, gast.UnaryOp):
        return _rank(item.operand, work)
    if isinstance(item, gast.BinOp) and not isinstance(item.op, gast.MatMult):
        sides = (_rank(item.left, work), _rank(item.right, work))
        return None if None in sides else max(sides)  # type: ignore[type-var]  # none of them is None here
    found = binding_of(item.func, work.facts, work.facts.names.local) if isinstance(item, gast.Call) else None
    if found is None or not item.args:
        return None
    rule = rule_of(found.object)
    if rule is not None and rule.shape == "filled":
        shape = item.args[0]
        return len(shape.elts) if isinstance(shape, gast.Tuple) else 1 if _is_length(shape) else None
    elementwise = isinstance(found.object, np.ufunc) and len(item.args) == 1 and not item.keywords
    if elementwise or (rule is not None and rule.is_like_first):
        return _rank(item.args[0], work)
    return 1 if rule is not None and rule.shape == "row" else None


def _is_length(shape: Node) -> bool:
    """Whether the argument of `np.ones` is one length for sure: a number, `len(x)`, `x.size`, `x.shape[0]`."""
    if isinstance(shape, gast.Subscript):
        return isinstance(shape.slice, gast.Constant) and getattr(shape.value, "attr", "") == "shape"
    called = isinstance(shape, gast.Call) and getattr(shape.func, "id", "") == "len"
    return called or isinstance(shape, gast.Constant) or getattr(shape, "attr", "") == "size"


def fill(node: Node, work: Rewriting) -> Block:
    """The statement itself, or the writes that it stands for."""
    value = getattr(node, "value", None)
    if not isinstance(node, gast.Expr | gast.Assign) or not isinstance(value, gast.Call):
        return [node]
    if isinstance(node, gast.Expr):
        made = _method(value, work) or _function(value, work)
        if made is not None:
            return [work.own(made, node)]
    before: Block = []
    target = _take_out_argument(value, work)
    if target is None:
        return [node]
    filled = where_for_mask(value, target, _object_of_name(value.func, work), node, before, work)
    if filled is None and value.keywords and value.keywords[-1].arg == "where":
        return [node]
    write = work.own(_store(target, value if filled is None else filled), node)
    if isinstance(node, gast.Expr):
        return [*before, write]
    node.value = gast.copy_location(copy(target), value)
    work.facts.origin.foreign[node] = None
    return [*before, write, node]


def _store(target: Node, value: Node) -> Node:
    """`a[...] = value` for a name, `a[i] = value` for a part."""
    part = copy(target)
    if isinstance(part, gast.Name):
        part = gast.copy_location(expression("a[...]", a=part), target)
    part.ctx = gast.Store()
    return gast.Assign([part], value, None)


def _method(call: Node, work: Rewriting) -> Node | None:
    """`a.fill(e)`, `a.sort()`, `a.partition(k)`, `a.put(i, e)`."""
    function = call.func
    if not isinstance(function, gast.Attribute) or not _is_array(function.value, work):
        return None
    owner = getattr(root(function.value), "id", "")
    if owner in work.facts.kinds.records or work.facts.kinds.of_names.get(owner, UNKNOWN).tag == "object":
        return None  # a method of the object's class
    if binding_of(function, work.facts, work.facts.names.local) is not None:
        return None
    if function.attr == "fill" and len(call.args) == 1 and not call.keywords:
        return _store(function.value, call.args[0])
    if function.attr in ("sort", "partition") and not _is_list(function.value, work):
        sort = expression(f"{work.library('np')}.{function.attr}(a)", a=copy(function.value))
        sort.args += call.args
        sort.keywords = call.keywords
        return _store(function.value, sort)
    if function.attr == "put" and len(call.args) == 2 and not call.keywords:
        return _write_in_place_call(np.put, function.value, call.args, work)
    return None


def _is_list(node: Node, work: Rewriting) -> bool:
    return isinstance(node, gast.Name) and work.lists.get(node.id) == "list"


def _function(call: Node, work: Rewriting) -> Node | None:
    """`np.copyto(a, e)`, `np.add.at(a, i, e)`, `np.fill_diagonal(a, e)`."""
    called = _object_of_name(call.func, work)
    rule = rule_of(called)
    if rule is not None and rule.writes:
        _put_in_order(call, parameters_of(called))
    if called is np.copyto and len(call.args) == 2 and _is_array(call.args[0], work):
        mask = next((w.value for w in call.keywords if w.arg == "where"), None)
        if any(w.arg not in ("where", "casting") for w in call.keywords):
            return None
        array, value = call.args
        if mask is not None:
            library = work.library("np")
            value = expression(f"{library}.where(mask, value, a)", mask=mask, value=value, a=copy(array))
        return _store(array, value)
    if call.args and _is_array(call.args[0], work) and not call.keywords:
        made = _write_in_place_call(called, call.args[0], call.args[1:], work)
        if made is not None:
            return made
    if isinstance(call.func, gast.Attribute) and call.func.attr == "at" and len(call.args) == 3:
        ufunc = _object_of_name(call.func.value, work)
        if (ufunc is np.add or ufunc is np.subtract) and _is_array(call.args[0], work):
            array, index, value = call.args
            value = value if ufunc is np.add else gast.UnaryOp(gast.USub(), value)
            helper = work.library("add_at")
            added = expression(f"{helper}(a.copy(), index, g)", a=copy(array), index=index, g=value)
            return _store(array, added)
    return None


def _put_in_order(call: Node, order: tuple[str, ...]) -> None:
    """`np.put(a, i, e)` for `np.put(v=e, ind=i, a=a)`: arguments by their places, as many as follow each other."""
    words = {word.arg: word for word in call.keywords}
    for word in order[len(call.args) :]:
        if word not in words:
            return
        call.args.append(words[word].value)
        call.keywords.remove(words[word])


def _write_in_place_call(called: object, array: Node, given: list[Node], work: Rewriting) -> Node | None:
    """`np.put(a, i, e)`, `np.put_along_axis`, `np.place`, `np.putmask` and `np.fill_diagonal` as assignments."""
    pieces = {"a": array} | {f"x{k}": part for k, part in enumerate(given, 1)}
    numpy = work.library("np")
    if called is np.put and len(given) == 2:
        text = f"a[{work.library('flat_index')}(x1, a)] = x2"
    elif called is np.put_along_axis and len(given) == 3:
        text = f"a[{work.library('along_axis')}(x1, a, x3)] = x2"
    elif called is np.fill_diagonal and len(given) == 1:
        text = f"a[{work.library('diagonal_index')}(a)] = x1"
    elif called is np.putmask and len(given) == 2:
        text = f"a[...] = {numpy}.where(x1, {numpy}.resize(x2, {numpy}.shape(a)), a)"
    elif called is np.place and len(given) == 2 and _is_mask_of(array, given[0]) and _is_number(given[1]):
        text = "a[x1] = x2"
    elif called is np.place and len(given) == 2 and isinstance(given[0], gast.Name):
        text = f"a[{numpy}.asarray(x1, bool)] = {numpy}.resize(x2, {numpy}.count_nonzero(x1))"
    else:
        return None
    return statement(text, **pieces)


def _is_mask_of(array: Node, node: Node) -> bool:
    """Whether an expression compares each element of an array with a number, `a < 0`: a mask of its shape."""
    if not isinstance(node, gast.Compare) or not isinstance(array, gast.Name) or len(node.ops) != 1:
        return False
    elementwise = isinstance(node.ops[0], gast.Lt | gast.LtE | gast.Gt | gast.GtE | gast.Eq | gast.NotEq)
    return elementwise and getattr(node.left, "id", "") == array.id and _is_number(node.comparators[0])


def _is_number(node: Node) -> bool:
    value = node.operand if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub) else node
    return isinstance(value, gast.Constant) and type(value.value) in (int, float)


def _take_out_argument(call: Node, work: Rewriting) -> Node | None:
    """The array that a call fills, `out=` or by its place, which is taken from the call."""
    called = _object_of_name(call.func, work)
    several = isinstance(called, np.ufunc) and called.nout > 1
    place = None if several else place_of_out(called, len(call.args))
    found = next((word.value for word in call.keywords if word.arg == "out"), None)
    array: Node | None = found if place is None else call.args[place]
    if isinstance(array, gast.Tuple) and len(array.elts) == 1:
        array = array.elts[0]
    none = isinstance(array, gast.Constant) and array.value is None
    if array is None or not (none or (takes_out(called) and _is_array(array, work))):
        return None
    call.keywords = [word for word in call.keywords if word.arg != "out"]
    if place is not None:
        rest = zip(parameters_of(called)[place + 1 :], call.args[place + 1 :], strict=False)
        call.keywords += [gast.keyword(word, value) for word, value in rest]
        del call.args[place:]
    return None if none else array


def _object_of_name(node: Node, work: Rewriting) -> object:
    found = binding_of(node, work.facts, work.facts.names.local)
    return None if found is None else found.object


def _is_array(node: Node, work: Rewriting) -> bool:
    """Whether a place may be written: a name, or a part of a name; an item of a list or dict is an array of its own."""
    inner = node.value if isinstance(node, gast.Subscript) else node
    if isinstance(node, gast.Subscript) and isinstance(inner, gast.Name):
        kind = work.facts.kinds.of_names.get(inner.id)
        held = kind is not None and kind.tag in ("list", "dict", "tuple")
        if held or inner.id in work.lists or isinstance(getattr(node.slice, "value", None), str):
            return False
    return isinstance(inner, gast.Name) and not holds(node, gast.Call)


def expand_masked_reduction(call: Node, work: Rewriting) -> Node | None:
    """`np.sum(np.where(m, x, 0.0)) + c` for `np.sum(x, where=m, initial=c)`; None where the call stays as it is.

    Elements that are left out become what changes nothing; the initial value is one more operand.
    """
    words = {word.arg: word.value for word in call.keywords}
    where, initial = words.pop("where", None), words.pop("initial", None)
    op = _operation(call, work)
    if op is None or (where is None and initial is None):
        return None
    array, *others = (
        call.args if binding_of(call.func, work.facts, work.facts.names.local) else [call.func.value, *call.args]
    )
    rest = [gast.keyword(key, value) for key, value in words.items()]
    plain = _PlainReduction(work, copy(array), others, rest, where)
    if op is np.sum:
        total = plain.called("sum", literal_node(0.0))
        return total if initial is None else gast.BinOp(total, gast.Add(), initial)
    if op is np.prod:
        total = plain.called("prod", literal_node(1.0))
        return total if initial is None else gast.BinOp(total, gast.Mult(), initial)
    if op is np.mean and isinstance(array, gast.Name) and _is_cheap(where):
        total = plain.called("sum", literal_node(0.0))
        plain.array = expression(f"{plain.numpy}.ones_like(a)", a=array)
        return gast.BinOp(total, gast.Div(), plain.called("sum", literal_node(0.0)))
    if op in (np.max, np.min, np.amax, np.amin) and initial is not None and _is_cheap(initial):
        largest = op in (np.max, np.amax)
        plain.helper = work.library("max_or_least" if largest else "min_or_most") if _by_numpy(work) else ""
        found = plain.called("max" if largest else "min", initial)
        other = "maximum" if largest else "minimum"
        return expression(f"{plain.numpy}.{other}(found, initial)", found=found, initial=copy(initial))
    return None


def operands_of_dtype(call: Node, work: Rewriting) -> Node | None:
    """`np.sqrt(np.asarray(x, dtype=complex))` for `np.sqrt(x, dtype=complex)`; None where the call stays as it is.

    So are operations on elements in complex numbers, and reductions in float64 or complex numbers, whose rules have no
    dtype. NumPy takes no complex operand of an operation on elements for real ones: those stay, and are refused.
    """
    op, words = _object_of_name(call.func, work), {word.arg: word.value for word in call.keywords}
    rule = rule_of(op) if callable(op) else None
    asked = _object_of_name(words["dtype"], work)
    if (
        rule is None
        or not callable(op)
        or "dtype" in rule.parameters
        or not any(asked is one for one in (*_COMPLEX, *_DOUBLE))
    ):
        return None
    if any(isinstance(one, gast.Starred) for one in call.args):
        return None
    on_elements = isinstance(op, np.ufunc) and op.nout == 1 and op.signature is None and len(call.args) == op.nin
    if on_elements and set(words) == {"dtype"} and not any(asked is one for one in _DOUBLE):
        given = range(len(call.args))
    elif not isinstance(op, np.ufunc) and call.args and _reduces(op):
        given = range(1)
    else:
        return None
    numpy = work.library("np")
    made = copy(call)
    for k in given:
        made.args[k] = expression(f"{numpy}.asarray(x, dtype=d)", x=copy(call.args[k]), d=copy(words["dtype"]))
    made.keywords = [word for word in made.keywords if word.arg != "dtype"]
    return made


_COMPLEX = (complex, np.complex128)
_DOUBLE = (float, np.float64)


def _reduces(op: Callable[..., object]) -> bool:
    """Whether a function of NumPy computes, along axes of its first argument, in a dtype that may be given."""
    try:
        names = list(inspect.signature(op).parameters)
    except (TypeError, ValueError):
        return False
    return names[:1] == ["a"] and {"axis", "dtype", "keepdims"}.issubset(names)


def _operation(call: Node, work: Rewriting) -> object:
    found = binding_of(call.func, work.facts, work.facts.names.local)
    if found is not None:
        return found.object
    if (
        not isinstance(call.func, gast.Attribute)
        or function_of(call.func, work.facts, work.facts.names.local) is not None
    ):
        return None
    return METHODS.get(call.func.attr)


def _by_numpy(work: Rewriting) -> bool:
    """Whether NumPy runs the text: it may find no elements, and then there is the initial value alone."""
    return bool(work.facts.module.target.as_written)


def _is_cheap(value: Node | None) -> bool:
    """Whether an expression may be evaluated twice."""
    kinds = (gast.Name, gast.Constant, gast.Attribute, gast.UnaryOp, gast.USub, gast.Load)
    return value is not None and all(isinstance(item, kinds) for item in walk(value))


class _PlainReduction:
    """The same reduction of what is left of an array."""

    def __init__(
        self, work: Rewriting, array: Node, others: list[Node], words: list[gast.keyword], where: Node | None
    ) -> None:
        self.numpy = work.library("np")
        self.array, self.others, self.words, self.where = array, others, words, where
        self.helper = ""  # what stands for the function of NumPy

    def called(self, name: str, neutral: Node) -> Node:
        """The reduction with that name; elements that are left out are `neutral`."""
        kept = self.array
        if self.where is not None:
            text = f"{self.numpy}.where(m, a, e)"
            kept = expression(text, m=copy(self.where), a=self.array, e=copy(neutral))
        made = expression(f"{self.helper or f'{self.numpy}.{name}'}(a)", a=kept)
        made.args += [copy(other) for other in self.others]
        made.keywords = [gast.keyword(word.arg, copy(word.value)) for word in self.words]
        return made


def builtin_name(function: Callable[..., object], work: Rewriting) -> str:
    """How the text spells a function of Python's own: by another name where the user's text has its name."""
    known = binding_of(expression(function.__name__), work.facts, work.facts.names.local)
    if known is not None and known.object is function:
        return str(function.__name__)
    return work.library(function.__name__, function)
