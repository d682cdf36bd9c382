"""Views: names for parts of an array, through which it changes, each use spelled as the part that it shows.

`a += e` changes an array that others may see: where a is surely an array it is spelled `a[...] += e`.
"""

from __future__ import annotations

from collections.abc import Callable

import gast
import numpy as np

from srcgrad.core.facts import Facts, numbers
from srcgrad.core.identity import record
from srcgrad.core.rules import arguments_of, may_show, rule_of, shape_of
from srcgrad.core.trees import (
    COMPOUND,
    Block,
    Node,
    at,
    bound_in_expressions,
    children,
    copy,
    every_parameter,
    expression,
    find_nodes,
    header,
    holds,
    is_basic,
    is_write,
    name,
    names_in,
    parameters,
    part_written,
    root,
    statement,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.core.visitor import places, rebuild, rewrite
from srcgrad.frontend.early_facts import integers
from srcgrad.frontend.resolve import METHODS as RESOLVED
from srcgrad.frontend.resolve import PASSIVE_ATTRIBUTES, binding_of

_MADE = ("filled", "square", "outer", "diag")  # shapes of what has axes for sure
_WITH_AXES = ("accumulate", "transpose", "swap", "flat")  # ... where an argument has


def in_place(function: Node, facts: Facts) -> None:
    """Spell out in-place changes of arrays of which parts, views or second names are in use."""
    _open_numbers(function, facts)
    changes = [
        n for n in statements(function.body) if isinstance(n, gast.AugAssign) and isinstance(n.target, gast.Name)
    ]
    if not changes:
        return
    arrays = surely_arrays(function, facts)
    shown = _arrays_shown(function) | _callers(function)
    several = second_names(function, facts)
    known = arrays & (shown | _second_names(function)) | (
        _certain_arrays(function, facts, _is_ndarray, ndim=0) & several if several else set()
    )
    for node in changes:
        if node.target.id in known and not isinstance(node.op, gast.MatMult):
            whole = at(expression(f"{node.target.id}[...]"), node.target)
            whole.ctx = gast.Store()
            node.target = whole
            facts.origin.foreign[node] = None


def _open_numbers(function: Node, facts: Facts) -> None:
    """`x[()]` and `x[...]` of an argument that is a number, as NumPy's numbers have them: `+x`, `np.array(x)`."""
    bound = {s for node in statements(function.body) for s in stores(node)}
    known = numbers(facts.kinds.of_names) - bound
    for node in statements(function.body) if known else ():
        for key in ("value", "test", "iter"):
            part = getattr(node, key, None)
            if part is not None and any(_of_all(n, known) for n in find_nodes(part, gast.Subscript)):
                setattr(node, key, rebuild(part, lambda inner: _index_all_axes(inner, known, facts)))
                facts.origin.foreign[node] = None


def _of_all(node: Node, known: frozenset[str]) -> bool:
    held = node.value.id if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name) else ""
    empty = held in known and isinstance(node.slice, gast.Tuple) and not node.slice.elts
    return empty or (held in known and getattr(node.slice, "value", None) is ...)


def _index_all_axes(part: Node, known: frozenset[str], facts: Facts) -> Node | None:
    if not _of_all(part, known):
        return None
    spelled = "+x" if isinstance(part.slice, gast.Tuple) else f"{facts.library('np')}.array(x)"
    return at(expression(spelled, x=part.value), part)


def surely_arrays(function: Node, facts: Facts) -> set[str]:
    """Names that hold nothing but arrays with axes."""
    return _certain_arrays(function, facts, _is_array, ndim=1)


def _certain_arrays(
    function: Node, facts: Facts, is_one: Callable[[Node | None, set[str], Facts], bool], ndim: int
) -> set[str]:
    """Names to which nothing but arrays is bound, arguments with fewer axes than `ndim` apart."""
    bound: dict[str, list[Node | None]] = {}
    for argument in every_parameter(function):
        kind = facts.kinds.of_names.get(argument.id)
        known = kind is not None and kind.tag == "array" and (kind.ndim or 0) >= ndim
        bound[argument.id] = [] if known else [None]
    for node in statements(function.body):
        for one in stores(node):
            if one in written_names(node) and is_write(node):
                continue
            if isinstance(node, gast.AugAssign):
                continue  # what is an array before it is one afterwards
            bound.setdefault(one, []).append(_bound_to(node, one))
        for each in bound_in_expressions(node):
            bound.setdefault(each.target.id, []).append(each.value)
    found = set(bound)
    while True:
        less = {one for one in found if all(is_one(value, found, facts) for value in bound[one])}
        if less == found:
            return found
        found = less


def _bound_to(node: Node, one: str) -> Node | None:
    """What an assignment binds to a name, also as one of several targets that are names: `a = b = e`."""
    if isinstance(node, gast.Assign) and all(isinstance(item, gast.Name) for item in node.targets):
        return node.value
    first = node.targets[0] if isinstance(node, gast.Assign) else None
    if isinstance(first, gast.Tuple) and isinstance(node.value, gast.Tuple) and len(first.elts) == len(node.value.elts):
        pairs = zip(first.elts, node.value.elts, strict=True)
        return next((value for item, value in pairs if getattr(item, "id", "") == one), None)
    return None


def _second_names(function: Node) -> set[str]:
    """Names that mean one array: `b = a`, `a = b = e`."""
    found: set[str] = set()
    for node in statements(function.body):
        if isinstance(node, gast.Assign) and (isinstance(node.value, gast.Name) or len(node.targets) > 1):
            found.update(stores(node), [node.value.id] if isinstance(node.value, gast.Name) else [])
    return found


def second_names(function: Node, facts: Facts) -> set[str]:
    """Names of a function that hold the array of another one, and names of which another one holds the array."""
    found: set[str] = set()
    for node in statements(function.body):
        if isinstance(node, gast.Assign):
            values = node.value.elts if isinstance(node.value, gast.Tuple) else [node.value]
            shared = [one for value in values for one in _shared_arrays(value, facts)]
            bound = stores(node) if shared else []
            found.update(shared, bound)
            if len(node.targets) > 1:
                found.update(stores(node))
    return found


def _asks(call: Node) -> bool:
    """Whether a call is of a method whose result shows nothing of the array: `a /= a.sum()` may bind a anew."""
    function = RESOLVED.get(getattr(call.func, "attr", ""))
    return function is not None and not may_show(function, arguments_of(function, call, [call.func]))


def _shared_arrays(value: Node, facts: Facts) -> list[str]:
    """Names whose array an expression may be, or show: `a`, `a[...]`, `np.asarray(a)`, `[a, b]`."""
    if isinstance(value, gast.Name):
        return [value.id]
    if isinstance(value, gast.Attribute):
        return _shared_arrays(value.value, facts) if value.attr in _SHOWING else []
    if isinstance(value, gast.Subscript):
        return _shared_arrays(value.value, facts) if _has_ellipsis(value) else []
    if isinstance(value, gast.Call):
        found = binding_of(value.func, facts, facts.names.local)
        method = value.func if found is None and isinstance(value.func, gast.Attribute) else None
        function: object = RESOLVED.get(method.attr) if method is not None else getattr(found, "object", None)
        holder = [method.value] if method is not None else value.args[:1]
        given = arguments_of(function, value, holder[:1] if method is not None else ())
        return [n for part in holder for n in _shared_arrays(part, facts)] if may_show(function, given) else []
    if isinstance(value, gast.IfExp):
        return [*_shared_arrays(value.body, facts), *_shared_arrays(value.orelse, facts)]
    if isinstance(value, gast.Tuple | gast.List | gast.Dict):
        return [one for part in children(value) for one in _shared_arrays(part, facts)]
    return []


def _has_ellipsis(value: Node) -> bool:
    parts = value.slice.elts if isinstance(value.slice, gast.Tuple) else [value.slice]
    return any(isinstance(part, gast.Constant) and part.value is ... for part in parts)


def _is_ndarray(value: Node | None, known: set[str], facts: Facts) -> bool:
    """Whether an expression is an array of any rank, no number, if some names are: `np.zeros_like(2.0)`, `a[...]`."""
    if isinstance(value, gast.Name):
        return value.id in known
    if isinstance(value, gast.IfExp):
        return _is_ndarray(value.body, known, facts) and _is_ndarray(value.orelse, known, facts)
    if isinstance(value, gast.Attribute):
        return value.attr in _SHOWING and _is_ndarray(value.value, known, facts)
    if isinstance(value, gast.Subscript):
        return _has_ellipsis(value) and _is_ndarray(value.value, known, facts)
    if not isinstance(value, gast.Call):
        return False
    found = binding_of(value.func, facts, facts.names.local)
    if found is None and isinstance(value.func, gast.Attribute):
        return value.func.attr in _RETURNING and _is_ndarray(value.func.value, known, facts)
    return found is not None and any(found.object is one for one in WRAPPING)


_SHOWING = ("real",)
_RETURNING = ("copy", "reshape", "squeeze", "astype")
WRAPPING = (
    np.zeros, np.ones, np.empty, np.full, np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.array,
    np.asarray, np.copy, np.where, np.reshape, np.squeeze, np.asanyarray, np.ascontiguousarray,
)  # fmt: skip


def _is_array(value: Node | None, known: set[str], facts: Facts) -> bool:
    """Whether an expression is an array with axes, if some names are."""
    if value is None:
        return False
    if isinstance(value, gast.Name):
        return value.id in known
    if isinstance(value, gast.BinOp):
        sides = (_is_array(value.left, known, facts), _is_array(value.right, known, facts))
        return any(sides) and not isinstance(value.op, gast.MatMult)
    if isinstance(value, gast.UnaryOp):
        return not isinstance(value.op, gast.Not) and _is_array(value.operand, known, facts)
    if isinstance(value, gast.IfExp):
        return _is_array(value.body, known, facts) and _is_array(value.orelse, known, facts)
    if isinstance(value, gast.Subscript):
        parts = value.slice.elts if isinstance(value.slice, gast.Tuple) else [value.slice]
        return _is_array(value.value, known, facts) and any(isinstance(part, gast.Slice) for part in parts)
    return isinstance(value, gast.Call) and _makes_array(value, known, facts)


def _makes_array(call: Node, known: set[str], facts: Facts) -> bool:
    found = binding_of(call.func, facts, facts.names.local)
    function: object = None if found is None else found.object
    if function is None and isinstance(call.func, gast.Attribute):
        function = RESOLVED.get(call.func.attr)
        return _keeps(function, call) and _is_array(call.func.value, known, facts)
    if shape_of(function) in _MADE:
        return bool(call.args) and not (isinstance(call.args[0], gast.Tuple) and not call.args[0].elts)
    if function is np.array and call.args:
        return isinstance(call.args[0], gast.List | gast.ListComp) or _is_array(call.args[0], known, facts)
    return _keeps(function, call) and any(_is_array(part, known, facts) for part in call.args)


def _keeps(function: object, call: Node) -> bool:
    """Whether a function gives an array with axes for one."""
    if any(word.arg in ("out", "axis") for word in call.keywords):
        return False
    elementwise = isinstance(function, np.ufunc) and function.nout == 1 and function.signature is None
    rule = rule_of(function)
    if elementwise or rule is None:
        return elementwise
    return rule.kind == "elementwise" or rule.shape in _WITH_AXES or rule.is_like_first


def _callers(function: Node) -> set[str]:
    """Parameters that hold the caller's object all along."""
    names = set(parameters(function))
    for node in statements(function.body):
        if not isinstance(node, gast.AugAssign):
            names -= set(stores(node)) - set(written_names(node))
    return names


def _arrays_shown(function: Node) -> set[str]:
    """Names of which parts are read or written, which have second names, or which something may hold."""
    found: set[str] = set()
    for node in statements(function.body):
        found.update(written_names(node))
        if isinstance(node, gast.For):
            found.update(n.id for n in find_nodes(node.iter, gast.Name))
        value = getattr(node, "value", None)
        if isinstance(value, gast.Name | gast.Tuple | gast.List | gast.Dict) and not isinstance(node, gast.Return):
            found.update(n.id for n in find_nodes(value, gast.Name))
        items = [i for part in header(node) for i in walk(part)]
        used = {value} if isinstance(node, gast.Return) else set()  # parts that nothing holds
        used |= {one for i in items if isinstance(i, gast.BinOp | gast.UnaryOp | gast.Compare) for one in children(i)}
        used |= {i.func for i in items if isinstance(i, gast.Call) and _asks(i)}
        for item in items:
            if isinstance(item, gast.Subscript | gast.Attribute) and isinstance(item.value, gast.Name):
                if item not in used and getattr(item, "attr", "") not in PASSIVE_ATTRIBUTES:
                    found.add(item.value.id)
            elif isinstance(item, gast.Call) and isinstance(item.func, gast.Name):
                found.update(n.id for n in item.args if isinstance(n, gast.Name))
    return found


FUNCTIONS = {np.transpose: "transpose", np.swapaxes: "swapaxes", np.squeeze: "squeeze"}
METHODS = tuple(FUNCTIONS.values())


@record
class Views:
    """What is known of one function while its views are spelled out."""

    facts: Facts
    function: Node
    integers: frozenset[str]

    def order(self) -> list[Node]:
        """All statements in the order of the text."""
        return list(statements(self.function.body))


def base_of(value: Node, work: Views) -> str | None:
    """The array of which an expression is a view for sure; None where it may be a copy, or a number."""
    facts = work.facts
    if isinstance(value, gast.Name):
        known = (
            value.id in facts.names.local
            and not facts.kinds.lists.get(value.id)
            and value.id not in facts.names.functions
        )
        kind = facts.kinds.of_names.get(value.id)
        return value.id if known and (kind is None or kind.tag in ("array", "unknown")) else None
    if isinstance(value, gast.Subscript):
        if isinstance(value.slice, gast.Tuple) and not value.slice.elts:
            return None  # `a[()]` of an array without axes is a number
        return base_of(value.value, work) if is_basic(value.slice, work.integers) else None
    if isinstance(value, gast.Attribute):
        return base_of(value.value, work) if value.attr in ("T", "mT") else None
    if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and not value.keywords:
        if value.func.attr in METHODS and binding_of(value.func, facts, facts.names.local) is None:
            return base_of(value.func.value, work)
    return None


def rows(block: Block, work: Views) -> None:
    """`for row in a`, where the row is written into, counts: `for i in range(len(a))`, with `row = a[i]`."""
    for node in statements(block):
        if (
            not isinstance(node, gast.For)
            or not isinstance(node.iter, gast.Name)
            or not isinstance(node.target, gast.Name)
        ):
            continue
        row, array = node.target.id, node.iter.id
        inner = list(statements(node.body))
        changed = {w for n in inner if is_write(n) for w in written_names(n)}
        if not changed & {row, array} or base_of(node.iter, work) is None:
            continue
        if any(array in stores(n) and not is_write(n) for n in inner):
            raise work.facts.refuse(
                node.iter,
                "E5010",
                f"the loop runs over `{array}`, which its body binds anew and writes into",
                f"give what the loop runs over a name of its own: `rows = {array}.copy()`",
            )
        count = work.facts.names.new_local("i")
        work.integers |= {count}
        bind = at(gast.Assign([name(row, gast.Store())], expression(f"{array}[{count}]"), None), node)
        work.facts.origin.foreign[bind] = work.facts.origin.foreign[node] = None
        node.target = name(count, gast.Store())
        node.iter = at(expression(f"range(len({array}))"), node.iter)
        node.body = [bind, *node.body]


def check_target(node: Node, work: Views) -> bool:
    """A write into a part of a part must reach the array: each part before the last is a view."""
    if not is_write(node):
        return False
    part = part_written(node)
    if isinstance(part.value, gast.Name):
        return False
    base = root(part)
    if base_of(part.value, work) is None:
        raise work.facts.refuse(
            part,
            "E5010",
            f"a write into a part of a part of `{'an array' if base is None else base.id}`, which may be a copy",
            "write into the array itself, with one index: `a[i, j] = e`",
        )
    return True


def views(function: Node, facts: Facts) -> Node:
    """Spell a view that is written through, or read after its array has changed, as a part of the array.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(x):\\n    a = x * 2.0\\n    v = a[1:]\\n    v[0] = 3.0\\n    return np.sum(a)"
    >>> print(explain_text(text, after="views"))
    def f(x):
        a = x * 2.0
        a[1:][0] = 3.0
        return np.sum(a)
    """
    indexed = any(holds(node, gast.Subscript) for node in function.body)
    given = numbers(facts.kinds.of_names) if indexed else frozenset[str]()  # which are told apart in indices alone
    work = Views(facts, function, given | frozenset(integers(function, facts)))
    rows(function.body, work)
    while _spell_one(work):
        pass
    for node in work.order():
        if check_target(node, work):
            _check_base(written_names(node)[0], work)
    return function


def _spell_one(work: Views) -> bool:
    """Spell out one view; whether there was one."""
    order = work.order()
    changes = [n for n in order if _arrays_written(n, work)]
    if not changes:
        return False
    for node in order:
        view = target(node)
        as_method = _as_method(node.value, work) if view is not None else None
        base = None if as_method is None else base_of(as_method, work)
        if (
            view is None
            or as_method is None
            or base is None
            or base == view
            or not _is_needed(node, view, base, order, work)
        ):
            continue
        if _is_steady(node, view, base, order):
            node.value = as_method
            _spell(node, view, base, work)
            return True
    return False


def _arrays_written(node: Node, work: Views) -> list[str]:
    """Arrays into which a statement writes: `a[i] = e`, and `a += e` too where a is one."""
    if is_write(node):
        return written_names(node)
    if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
        return [node.target.id]
    return []


def _as_method(value: Node, work: Views) -> Node:
    """`a.swapaxes(0, 1)` for `np.swapaxes(a, 0, 1)`; any other expression as it is."""
    if not isinstance(value, gast.Call) or value.keywords or not value.args:
        return value
    found = binding_of(value.func, work.facts, work.facts.names.local)
    for function, method in FUNCTIONS.items():
        if found is not None and found.object is function:
            own = gast.copy_location(gast.Attribute(value.args[0], method, gast.Load()), value)
            return gast.copy_location(gast.Call(own, value.args[1:], []), value)
    return value


def _is_needed(node: Node, view: str, base: str, order: list[Node], work: Views) -> bool:
    """Whether the array changes while the view lives: through the view, or before the view is read."""
    place = {n: k for k, n in enumerate(order)}
    through = [n for n in order if view in _arrays_written(n, work)]
    if any(is_write(n) for n in through) or (through and _is_view_with_axes(node.value)):
        return True
    if through:
        return False  # `s = a[i]; s += e` may count with a number
    if not _is_view_with_axes(node.value) and not isinstance(node.value, gast.Name):
        return False  # a number does not change with its array
    family = _family(base, order, work)
    reads = [n for n in order if n is not node and view in _reads(n)]
    for change in [
        n for n in order if set(_arrays_written(n, work)) & family and (is_write(n) or _is_surely(n, order, work))
    ]:
        loops = [n for n in order if isinstance(n, gast.For | gast.While) and _holds(n, change) and not _holds(n, node)]
        if any(place[read] > place[change] > place[node] for read in reads):
            return True
        if any(_holds(loop, read) for loop in loops for read in reads):
            return True
    return False


def _is_surely(node: Node, order: list[Node], work: Views) -> bool:
    """Whether `a += e` changes an array, not a number: one that is written into elsewhere, or made as one."""
    held = node.target.id
    if any(is_write(n) and held in written_names(n) for n in order):
        return True
    kind = work.facts.kinds.of_names.get(held)
    if kind is not None and kind.tag == "array":
        return True
    parts = [i for n in order for part in header(n) for i in find_nodes(part, gast.Subscript)]
    if any(getattr(part.value, "id", "") == held and _is_view_with_axes(part) for part in parts):
        return True
    made = [n.value for n in order if target(n) == held]
    return bool(made) and all(_makes_array_with_axes(value, work) for value in made)


def _makes_array_with_axes(value: Node, work: Views) -> bool:
    if not isinstance(value, gast.Call) or (not value.args and not isinstance(value.func, gast.Attribute)):
        return False
    found = binding_of(value.func, work.facts, work.facts.names.local)
    method = found is None and isinstance(value.func, gast.Attribute)
    rule = rule_of(RESOLVED.get(value.func.attr) if method else getattr(found, "object", None))
    if rule is None:
        return False
    if rule.shape in ("filled", "square", "outer") and not method:
        return True
    of = value.func.value if method else value.args[0] if value.args else None
    kind = work.facts.kinds.of_names.get(getattr(of, "id", ""))
    copies = rule.shape == "display" or rule.is_like_first
    return copies and kind is not None and kind.tag == "array" and bool(kind.ndim)


def _family(base: str, order: list[Node], work: Views) -> set[str]:
    """An array and all names for parts of it."""
    found = {base}
    while True:
        more = {
            str(target(n)) for n in order if target(n) and base_of(_as_method(n.value, work), work) in found
        } - found
        if not more:
            return found
        found |= more


def _is_view_with_axes(value: Node) -> bool:
    """Whether a view has axes: `a[1:]` has, `a[0]` may be a number."""
    if isinstance(value, gast.Subscript):
        parts = value.slice.elts if isinstance(value.slice, gast.Tuple) else [value.slice]
        return any(isinstance(part, gast.Slice) or getattr(part, "value", 0) in (None, ...) for part in parts)
    return not isinstance(value, gast.Name)


def _is_steady(node: Node, view: str, base: str, order: list[Node]) -> bool:
    """Whether the expression means the same part wherever the view is used."""
    bound = [n for n in order if view in stores(n) and not (is_write(n) or isinstance(n, gast.AugAssign))]
    if bound != [node]:
        return False
    place = {n: k for k, n in enumerate(order)}
    uses = [n for n in order if n is not node and (view in _reads(n) or view in stores(n))]
    if any(place[use] < place[node] for use in uses):
        return False
    for read in names_in(node.value):
        binders = [n for n in order if read in stores(n) and not is_write(n)]
        if read == base:
            binders = [n for n in binders if not isinstance(n, gast.AugAssign)]
        last = max([place[use] for use in uses], default=0)
        for binder in binders:
            again = [n for n in order if _is_loop(n) and _holds(n, binder)]  # whose next trip may read the view
            if place[binder] > last and not any(_runs_again(n, one) for n in again for one in (node, *uses)):
                continue  # by then nobody reads the view
            around = [n for n in order if isinstance(n, gast.For | gast.While) and (n is binder or _holds(n, binder))]
            inside = [n for n in around if n is node or _holds(n, node)]
            if len(around) != len(inside) or place[binder] > place[node]:
                return False
            if around and not all(_holds(around[-1], use) for use in uses):
                return False
    return True


def _is_loop(node: Node) -> bool:
    return isinstance(node, gast.For | gast.While)


def _runs_again(loop: Node, node: Node) -> bool:
    """Whether each trip of a loop runs a statement: what stands in it, and its own test."""
    return _holds(loop, node) or (node is loop and isinstance(loop, gast.While))


def _reads(node: Node) -> list[str]:
    return [n.id for part in header(node) for n in find_nodes(part, gast.Name)]


def _holds(outer: Node, inner: Node) -> bool:
    return isinstance(outer, COMPOUND) and outer is not inner and any(n is inner for n in statements(outer.body))


def _spell(node: Node, view: str, base: str, work: Views) -> None:
    """Put the expression in place of the name, and drop the statement that bound it."""
    facts = work.facts
    facts.origin.foreign[node] = None
    [(_, block, around)] = [place for place in places(work.function.body) if place.node is node]
    block.remove(node)
    if around and not around[-1].body:
        around[-1].body.append(at(gast.Pass(), node))
    through = [part_written(n) for n in work.order() if view in written_names(n) and is_write(n)]
    if _is_all(node.value) and any(map(_is_all, through)):
        node.value = node.value.value  # `a[...]` of an array without axes shows the whole of it
    for other in work.order():
        if view not in _reads(other) and view not in stores(other):
            continue
        facts.origin.foreign[other] = None
        if isinstance(other, gast.AugAssign) and getattr(other.target, "id", "") == view:
            whole = expression("view[...]", view=copy(node.value))
            whole.ctx = gast.Store()
            other.target = at(whole, other.target)
        for field in ("iter", "test"):
            if getattr(getattr(other, field, None), "id", "") == view:
                setattr(other, field, at(copy(node.value), getattr(other, field)))
        for part in header(other):
            rewrite(part, lambda read: at(copy(node.value), read) if getattr(read, "id", "") == view else read)
    _check_base(base, work)


def _is_all(value: Node) -> bool:
    """`a[...]`, `a[()]`"""
    if not isinstance(value, gast.Subscript) or not isinstance(value.value, gast.Name):
        return False
    return getattr(value.slice, "value", None) is ... or (isinstance(value.slice, gast.Tuple) and not value.slice.elts)


def _check_base(base: str, work: Views) -> None:
    """An argument of unknown kind is looked at: a part of a list is no view."""
    facts = work.facts
    kind = facts.kinds.of_names.get(base)
    if kind is None and any(a.id == base for a in work.function.args.args):
        check = at(statement(f"{facts.library_in_text('check_array')}({base})"), work.function)
        facts.origin.foreign[check] = None
        work.function.body.insert(0, check)
