"""Facts that are needed before the normal form: bound names, integers, what may vary, and results that are several.

Which names are bound wherever they are read: definite assignment, with every way out of a block followed. Which names
hold an integer: counters of loops, and lengths, with what is computed from these by + - * // %. Results: several at
once, with fields, with something beside them, or of a local name; each gets a name of its own.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import field
from itertools import pairwise

import gast
import numpy as np

import srcgrad.templates as templates
from srcgrad.core.facts import LOOP, Facts
from srcgrad.core.identity import home, record, replace
from srcgrad.core.rules import Results, rule_of
from srcgrad.core.trees import (
    Block,
    Node,
    assign,
    at,
    children,
    expression,
    find_nodes,
    header,
    holds,
    is_integer,
    literal_bounds,
    literal_node,
    literal_of,
    loads,
    name,
    names_in,
    parameters,
    statements,
    stores,
    target,
    walk,
    walk_of,
    written_names,
)
from srcgrad.core.visitor import blocks, rewrite, rewrite_statements
from srcgrad.frontend.kinds_of_values import is_own
from srcgrad.frontend.resolve import PASSIVE_ATTRIBUTES, binding_of

Names = frozenset[str]
After = Names | None  # names bound for sure at the end of a block; None if the end is never reached


@record
class Reader:
    """One walk over a function; `doubtful` collects names that are read where they may be unbound."""

    local: Names
    doubtful: dict[str, None] = field(default_factory=dict)
    breaks: list[list[Names]] = field(default_factory=list)  # of each loop around

    def block(self, block: Block, bound: Names) -> After:
        """Names bound for sure at the end of a block."""
        after: After = bound
        for node in block:
            if after is None:
                return None
            after = self.statement(node, after)
        return after

    def statement(self, node: Node, bound: Names) -> After:
        """Names bound for sure after a statement."""
        unsure = [read for read in loads(node) if read in self.local and read not in bound]
        if unsure:
            self.doubtful.update(dict.fromkeys(unsure))
            always = {one for part in header(node) for one in read_always(part)}
            bound |= always.intersection(unsure)  # or what follows is never reached
        if isinstance(node, gast.Return | gast.Raise | gast.Continue):
            return None
        if isinstance(node, gast.Break):
            if self.breaks:
                self.breaks[-1].append(bound)
            return None
        if isinstance(node, gast.If):
            return _intersection_of(self.block(node.body, bound), self.block(node.orelse, bound))
        if isinstance(node, gast.For | gast.While):
            return self.loop(node, bound)
        return bound | frozenset(stores(node))

    def loop(self, node: Node, bound: Names) -> After:
        """A loop may run no trip, unless it is `while True`; `else` runs where no `break` left it."""
        self.breaks.append([])
        body = self.block(node.body, bound | frozenset(stores(node)))
        left = self.breaks.pop()
        if body is not None and _runs(node):
            bound = body
        endless = isinstance(node, gast.While) and isinstance(node.test, gast.Constant) and bool(node.test.value)
        after: After = None if endless else self.block(node.orelse or [], bound)
        for one in left:
            after = _intersection_of(after, one)
        return after


def read_always(node: Node) -> Iterator[str]:
    """Names that an expression or a statement reads whatever the values: not those of a branch that it may not take."""
    if isinstance(node, gast.Name):
        yield from [node.id] if isinstance(node.ctx, gast.Load) else []
    elif isinstance(node, gast.AugAssign):
        yield from [*names_in(node.target), *read_always(node.value)]
    elif isinstance(node, gast.IfExp):
        yield from read_always(node.test)
    elif isinstance(node, gast.BoolOp):
        yield from read_always(node.values[0])
    elif not isinstance(node, gast.Lambda | gast.ListComp | gast.SetComp | gast.DictComp | gast.GeneratorExp):
        for part in gast.iter_child_nodes(node):
            yield from read_always(part)


def _runs(loop: Node) -> bool:
    """Whether a loop is sure to run a trip, to its end: `for k in range(3)`, `for k in range(1, 4)`."""
    call = loop.iter if isinstance(loop, gast.For) else None
    if not isinstance(call, gast.Call) or getattr(call.func, "id", "") != "range" or len(call.args) not in (1, 2):
        return False
    ends = [getattr(one, "value", None) for one in ([gast.Constant(0, None), *call.args])[-2:]]
    leaves = any(isinstance(node, gast.Continue | gast.Break) for node in statements(loop.body))
    return type(ends[0]) is int and type(ends[1]) is int and ends[0] < ends[1] and not leaves


def _intersection_of(one: After, other: After) -> After:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def names_maybe_unbound(block: Block, parameters: Iterable[str], local: Iterable[str]) -> dict[str, None]:
    """Names that some path reads before it binds them.

    >>> names_maybe_unbound(gast.parse("if x: r = 1\\ny = r").body, ["x"], ["r", "y"])
    {'r': None}
    """
    reader = Reader(frozenset(local))
    reader.block(block, frozenset(parameters))
    return reader.doubtful


_KEEPING = gast.Add | gast.Sub | gast.Mult | gast.FloorDiv | gast.Mod  # of integers, each gives an integer


def integers(function: Node, facts: Facts) -> dict[str, None]:
    """Counters of loops, and names that are bound once, to an integer, outside of loops: an index takes one element.

    A name that changes on the way is none, `k = k + 1`: what is read at `k` is not what was read there before. A
    parameter is none: an array of integers may be given for it.
    """
    order = statements(function.body)
    local = names_in(function.args) | {s for n in order for s in stores(n)}
    known = _KnownNames(facts, frozenset(local), _arrays(order), order)
    found: dict[str, list[Node | bool]] = {}
    for node in order:
        for held, value in known.bindings(node):
            found.setdefault(held, []).append(value)
    for parameter in (n.id for n in find_nodes(function.args, gast.Name)):
        found.pop(parameter, None)
    whole = dict.fromkeys(found)
    while True:  # names that count read themselves: all may be integers until one binding says otherwise
        left = {
            s: None
            for s in whole
            if all(v is True or (v is not False and known.is_integer(v, whole)) for v in found[s])
        }
        if len(left) == len(whole):
            break
        whole = left
    loops = [node for node in order if isinstance(node, gast.For | gast.While)]
    again = {s for loop in loops for node in statements([loop]) for s in stores(node)}
    bound = Counter(s for node in order for s in stores(node))
    return counters(function) | {s: None for s in whole if bound[s] == 1 and s not in again}


def counters(function: Node) -> dict[str, None]:
    """Names that hold nothing but the counters of loops over `range`, or items of a range."""
    order = statements(function.body)
    loops = [n for n in order if isinstance(n, gast.For) and isinstance(n.target, gast.Name) and _is_range(n.iter)]
    bound = Counter([s for n in order for s in stores(n)] + [n.id for n in walk(function.args) if _is_parameter(n)])
    plain = [n for n in order if target(n) is not None]
    held = {str(target(n)) for n in plain if _is_range(n.value) and bound[str(target(n))] == 1}
    counted = Counter([n.target.id for n in loops] + [str(target(n)) for n in plain if _is_item(n.value, held)])
    return {one: None for one in counted if bound[one] == counted[one]}


def may_count(parameter: str, facts: Facts) -> bool:
    """Whether a text binds a parameter to an integer somewhere, of which `np.zeros_like` makes no place for floats."""
    order = [node for node in statements(facts.source.tree.body) if parameter in stores(node)]
    known = _KnownNames(facts, facts.names.local, frozenset(), order)
    values = [value for node in order for one, value in known.bindings(node) if one == parameter]
    given = [value for value in values if not isinstance(value, bool)]
    return True in values or any(known.is_integer(value, {}) or _is_of_items(value, facts) for value in given)


def _is_of_items(value: Node | None, facts: Facts) -> bool:
    """`sum(items)`, `max(a, b)`: an integer where the items are."""
    found = binding_of(value.func, facts, facts.names.local) if isinstance(value, gast.Call) else None
    return found is not None and any(found.object is one for one in (sum, min, max))


def _is_parameter(node: Node) -> bool:
    return isinstance(node, gast.Name) and isinstance(node.ctx, gast.Param)


def _is_item(value: Node, ranges: set[str]) -> bool:
    """`trips[place]`, an item of a range."""
    return isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name) and value.value.id in ranges


def _arrays(order: list[Node]) -> frozenset[str]:
    """Names of which elements or values are taken as of arrays: their attribute `shape` is that of an array."""
    found = set()
    for part in (part for node in order for part in header(node)):
        for item in find_nodes(part, gast.Subscript, gast.BinOp):
            used = [item.value] if isinstance(item, gast.Subscript) else [item.left, item.right]
            found |= {one.id for one in used if isinstance(one, gast.Name)}
    return frozenset(found)


class _KnownNames:
    def __init__(self, facts: Facts, local: frozenset[str], arrays: frozenset[str], order: list[Node]) -> None:
        self.facts, self.local, self.arrays = facts, local, arrays
        bound = Counter(s for node in order for s in stores(node))
        held = [str(target(n)) for n in order if target(n) is not None and _is_range(n.value)]
        self.ranges = {one for one in held if bound[one] == 1}

    def bindings(self, node: Node) -> list[tuple[str, Node | bool]]:
        """The names that a statement binds, each with its value; True for an integer, False for anything else."""
        if isinstance(node, gast.For) and isinstance(node.target, gast.Name):
            return [(node.target.id, _is_range(node.iter))]
        if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
            held = node.target.id
            return [(held, gast.BinOp(name(held), node.op, node.value))]
        if isinstance(node, gast.AnnAssign) and isinstance(node.target, gast.Name) and node.value is not None:
            return [(node.target.id, node.value)]
        if target(node) is not None:
            return [(str(target(node)), node.value)]
        if isinstance(node, gast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], gast.Tuple):
            return self._parts(node.targets[0], node.value)
        return [(one, False) for one in stores(node)]

    def _parts(self, places: Node, value: Node) -> list[tuple[str, Node | bool]]:
        """`n, m = len(a), len(b)` and `n, d = x.shape`."""
        plain = all(isinstance(place, gast.Name) for place in places.elts)
        if plain and isinstance(value, gast.Tuple) and len(value.elts) == len(places.elts):
            return [(place.id, one) for place, one in zip(places.elts, value.elts, strict=True)]
        return [(n.id, plain and self._is_shape(value)) for n in find_nodes(places, gast.Name)]

    def _is_shape(self, value: Node) -> bool:
        return isinstance(value, gast.Attribute) and value.attr == "shape" and self._is_array(value.value)

    def _is_array(self, value: Node) -> bool:
        return isinstance(value, gast.Name) and value.id in self.arrays and value.id not in self.facts.kinds.records

    def is_integer(self, value: Node, whole: dict[str, None]) -> bool:
        """Whether an expression is an integer, if these names are."""
        if isinstance(value, gast.Name):
            return value.id in whole
        if isinstance(value, gast.BinOp):
            kept = isinstance(value.op, _KEEPING)
            return kept and self.is_integer(value.left, whole) and self.is_integer(value.right, whole)
        if isinstance(value, gast.Attribute):
            return value.attr in ("size", "ndim") and self._is_array(value.value)
        if isinstance(value, gast.Subscript):
            return _is_item(value, self.ranges) or (self._is_shape(value.value) and self.is_integer(value.slice, whole))
        if isinstance(value, gast.Call):
            return self._gives_integer(value, whole)
        return is_integer(value)

    def _gives_integer(self, call: Node, whole: dict[str, None]) -> bool:
        """`len(x)`, `int(x)`, `np.argmax(x)`; `min` and `max` of integers."""
        found = binding_of(call.func, self.facts, self.local)
        if found is None or call.keywords or any(isinstance(one, gast.Starred) for one in call.args):
            return False
        if any(found.object is one for one in (len, int, np.argmax, np.argmin)):
            return len(call.args) == 1
        several = any(found.object is one for one in (min, max)) and len(call.args) > 1
        return several and all(self.is_integer(one, whole) for one in call.args)


def _is_range(trips: Node) -> bool:
    """`range(...)` or `reversed(range(...))`."""
    called = getattr(trips.func, "id", "") if isinstance(trips, gast.Call) else ""
    if called == LOOP:
        return _is_range(trips.args[0])
    return called == "range" or (called == "reversed" and len(trips.args) == 1 and _is_range(trips.args[0]))


def varied_names(function: Node, facts: Facts, local: frozenset[str], inputs: Iterable[str] = ()) -> list[str]:
    """Names that may depend on the inputs in `wrt`, or on those given, through anything but shapes and constants."""
    users: dict[str, list[Node]] = {}
    for node in statements(function.body):
        for read in dict.fromkeys(loads(node)):
            users.setdefault(read, []).append(node)
    found = dict.fromkeys(inputs or facts.request.wrt)
    todo = list(found)
    while todo:
        for node in users.get(todo.pop(), []):
            if _carries(node, found, facts, local):
                for bound in stores(node):
                    if bound not in found:
                        found[bound] = None
                        todo.append(bound)
    return list(found)


def assigned_varied(function: Node, facts: Facts, inputs: Iterable[str]) -> frozenset[str]:
    """Names that assignments bind to what depends on the inputs."""
    varied = dict.fromkeys(varied_names(function, facts, facts.names.local, inputs))
    values = [n for n in statements(function.body) if isinstance(n, gast.Assign | gast.AugAssign)]
    return frozenset(s for n in values if reads_varied(n.value, varied, facts, facts.names.local) for s in stores(n))


def _carries(node: Node, varied: dict[str, None], facts: Facts, local: frozenset[str]) -> bool:
    if not isinstance(node, gast.Assign | gast.For) and not written_names(node):
        return False
    value = node.iter if isinstance(node, gast.For) else node.value
    return reads_varied(value, varied, facts, local)


_OF_TEXT = ("startswith", "endswith")  # methods that strings alone have: a key of what varies is no value
_NONE = {gast.Compare, gast.JoinedStr}  # carry none
_BETWEEN = (gast.Compare, gast.JoinedStr, gast.Attribute, gast.IfExp, gast.Call)  # may carry none


def reads_varied(node: Node, varied: dict[str, None], facts: Facts, local: frozenset[str]) -> bool:
    """Whether some varied name is read by an expression in a place that carries a derivative."""
    if type(node) is gast.Name:
        return node.id in varied
    if not any(table["id"] in varied for table in walk_of(node).names):
        return False
    if not holds(node, *_BETWEEN):
        return True
    todo = [node]
    while todo:
        item = todo.pop()
        kind = type(item)
        if kind is gast.Name:
            if item.id in varied:
                return True
        elif kind in _NONE or (kind is gast.Attribute and item.attr in PASSIVE_ATTRIBUTES and not is_own(item, facts)):
            continue
        elif kind is gast.IfExp:
            todo.extend((item.body, item.orelse))
        elif kind is gast.Call and getattr(item.func, "attr", "") in _OF_TEXT:
            continue
        elif kind is gast.Call:
            found = binding_of(item.func, facts, local)
            rule = None if found is None else rule_of(found.object if found.static is None else found.static)
            if rule is None or rule.kind != "constant":
                todo.extend(children(item))
        else:
            todo.extend(children(item))
    return False


def split_auxiliary_value(function: Node, facts: Facts) -> Node:
    """`return g(x)` as `value, beside = g(x)` and `return value, beside`: the derivative is of the first alone."""
    if not facts.request.auxiliary:
        return function
    last = function.body[-1]
    if isinstance(last.value, gast.Tuple) and len(last.value.elts) == 2:
        return function
    if isinstance(last.value, gast.Tuple | gast.List | gast.Dict | gast.Constant):
        raise facts.refuse(
            last, "E5007", "with has_aux the function returns a pair", "return the scalar, and beside it one value"
        )
    names = [facts.names.fresh("value"), facts.names.fresh("beside")]
    facts.names.local |= frozenset(names)
    pair = gast.Tuple(elts=[name(each, gast.Store()) for each in names], ctx=gast.Store())
    unpacked = at(gast.Assign([pair], last.value, None), last)
    result = at(gast.Return(gast.Tuple(elts=[name(each) for each in names], ctx=gast.Load())), last)
    for made in (unpacked, result):
        facts.origin.foreign[made] = None
    function.body[-1:] = [unpacked, result]
    return function


def result_fields(function: Node, facts: Facts) -> Node:
    """Spell the fields of several results by their places.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> print(explain_text("def f(a):\\n    r = np.linalg.qr(a)\\n    return r.Q @ r.R", after="result_fields"))
    def f(a):
        r = np.linalg.qr(a)
        return r[0] @ r[1]
    """
    local = frozenset(parameters(function)) | {s for n in statements(function.body) for s in stores(n)}
    known = _names_of_results(function, facts, local)
    for node in statements(function.body):
        read = [n for part in header(node) or [node] for n in find_nodes(part, gast.Attribute)]
        if any(_field(n, known, facts, local) is not None for n in read):
            rewrite(node, lambda part: _field(part, known, facts, local) or part)
            facts.origin.foreign[node] = None
    return function


def _names_of_results(function: Node, facts: Facts, local: frozenset[str]) -> dict[str, Results]:
    """Names to which nothing but the results of one kind of operation is bound."""
    found: dict[str, list[Results]] = {}
    for node in statements(function.body):
        for bound in stores(node):
            several = results_of(node.value, facts, local) if target(node) == bound else ()
            found.setdefault(bound, []).append(several)
    own = {bound: kinds[0] for bound, kinds in found.items() if kinds[0] and all(k == kinds[0] for k in kinds)}
    return {bound: several for bound, several in own.items() if bound not in parameters(function)}


def results_of(value: Node, facts: Facts, local: frozenset[str]) -> Results:
    """The results of a call, with their names; empty for anything that gives one."""
    if not isinstance(value, gast.Call):
        return ()
    found = binding_of(value.func, facts, local)
    if found is None or found.kind != "object":
        return ()
    if rule_of(found.object) is None:
        templates.load_for(home(found.object) or "")
    rule = rule_of(found.object)
    return () if rule is None else rule.results


def _field(value: Node, known: dict[str, Results], facts: Facts, local: frozenset[str]) -> Node | None:
    if not isinstance(value, gast.Attribute):
        return None
    held = value.value
    several = known.get(held.id, ()) if isinstance(held, gast.Name) else results_of(held, facts, local)
    names = [name for name, _ in several]
    if value.attr not in names:
        return None
    return at(expression("held[place]", held=held, place=literal_node(names.index(value.attr))), value)


def intermediate_variables(function: Node, facts: Facts) -> Node:
    """Take the names in `wrt` that are no parameters: each is bound once, in no branch and no loop, and never changed.

    >>> from srcgrad.interface.show.explain import run
    >>> run("def f(x):\\n    h = x * x\\n    return np.sum(h)", "intermediate_variables", wrt=("h",))[1].request.inner
    ('h',)
    """
    facts.request = replace(
        facts.request, inner=tuple(wanted for wanted in facts.request.wrt if wanted not in parameters(function))
    )
    if facts.request.inner and facts.request.mode not in ("reverse", "value-and-grad", "vjp", "trace"):
        raise facts.refuse(
            facts.source.tree,
            "E5009",
            f"`{facts.request.inner[0]}` is no parameter, and mode {facts.request.mode} has no tangent for it",
            "use reverse mode, or make it a parameter",
        )
    for wanted in facts.request.inner:
        _check_text(wanted, facts)
        made = [node for node in function.body if wanted in stores(node) and not written_names(node)]
        everywhere = [node for node in statements(function.body) if wanted in stores(node)]
        if len(made) != 1 or len(everywhere) != 1 or not isinstance(made[0], gast.Assign):
            where = everywhere[0] if everywhere else facts.source.tree
            what = "is bound in a loop or a branch, or is changed" if everywhere else "is taken apart"
            raise _refusal(wanted, what, where, facts)
        if facts.list_kind(wanted) or wanted in facts.kinds.records or isinstance(made[0].value, _DISPLAYS):
            raise _refusal(wanted, "holds a container", made[0], facts)
    return function


_DISPLAYS = (gast.Tuple, gast.List, gast.Dict)


def _check_text(wanted: str, facts: Facts) -> None:
    """In the user's own text the name is bound by one assignment, and nothing is stored into it."""
    tree = facts.source.tree
    bound = [n for s in tree.body for n in find_nodes(s, gast.Name) if n.id == wanted]
    bound = [n for n in bound if not isinstance(n.ctx, gast.Load)]
    if not bound:
        raise facts.refuse(tree, "E5009", f"`{wanted}` is bound nowhere", "name a parameter, or a local variable")
    if len(bound) > 1:
        lines = " and ".join(str(line) for line in dict.fromkeys(n.lineno for n in bound))
        raise _refusal(wanted, f"is bound more than once, in line {lines}", bound[1], facts)
    for node in statements(tree.body):
        if wanted in written_names(node):
            raise _refusal(wanted, "is changed", node, facts)


def _refusal(wanted: str, what: str, where: Node, facts: Facts) -> Exception:
    return facts.refuse(
        where,
        "E5009",
        f"`{wanted}` {what}: it is not clear which value is meant",
        f"bind the value that you mean to a name of its own, once, outside of loops and branches: `{wanted}_0 = ...`",
    )


@record
class _Work:
    """Which names hold all results of an operation, and what the results go by instead."""

    facts: Facts
    bound: dict[str, int] = field(default_factory=dict)  # how often a name is bound
    readers: dict[str, list[Node]] = field(default_factory=dict)
    parts: dict[str, list[str]] = field(default_factory=dict)  # name of all results -> names of the single ones
    users: dict[str, Node] = field(default_factory=dict)  # ... -> the user's statement that binds it


def split_results(function: Node, facts: Facts) -> Node:
    """Where several results are read one by one, let no name hold all of them.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> print(explain_text("def f(a):\\n    return np.linalg.eigh(a)[0] ** 2", after="split_results"))
    def f(a):
        eigenvalues, eigenvectors = np.linalg.eigh(a)
        t2 = eigenvalues
        y = t2**2
        return y
    """
    work = _Work(facts)
    for node in statements(function.body):
        for one in stores(node):
            work.bound[one] = work.bound.get(one, 0) + 1
        for one in loads(node):
            work.readers.setdefault(one, []).append(node)
    for node in statements(function.body):
        held, several = target(node), several_of(node, facts)
        if held is not None and several and work.bound[held] == 1:
            reads = work.readers.get(held, [])
            if reads and all(_reads_parts(read, held, len(several), facts) for read in reads):
                work.parts[held] = [""] * len(several)
                work.users[held] = facts.origin.user.get(node, node)
    following = {one: two for block in blocks(function.body) for one, two in pairwise(block)}
    function.body = rewrite_statements(function.body, lambda node: _statement(node, following.get(node), work))
    return function


def several_of(node: Node, facts: Facts) -> Results:
    """The results of an assignment's operation, where it has several."""
    operation = facts.operation_of(node)
    rule = None if operation is None else operation.rule
    return () if rule is None else rule.results


def gives_several(node: Node, facts: Facts) -> bool:
    """Whether a statement is `w, v = op(...)`."""
    return isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Tuple) and bool(several_of(node, facts))


def _reads_parts(node: Node, held: str, count: int, facts: Facts) -> bool:
    """Whether a statement is `x = held[1]`, or `x, y = held`."""
    if not isinstance(node, gast.Assign) or loads(node).count(held) != 1:
        return False
    if isinstance(node.targets[0], gast.Tuple) and isinstance(node.value, gast.Name):
        return len(node.targets[0].elts) == count
    return _place(node, facts, count) is not None or _slice(node, facts, count) is not None


def _place(node: Node, facts: Facts, count: int) -> int | None:
    """The place k in `x = held[k]`."""
    operation = facts.resolution.operation.get(node.value)
    if target(node) is None or operation is None or operation.function is not operator.getitem:
        return None
    place = literal_of(operation.bound["index"])
    return place % count if isinstance(place, int) and -count <= place < count else None


def _slice(node: Node, facts: Facts, count: int) -> list[int] | None:
    """The places in `x = held[:2]`."""
    operation = facts.resolution.operation.get(node.value)
    if target(node) is None or operation is None or operation.function is not operator.getitem:
        return None
    index = operation.bound["index"]
    bounds = literal_bounds(index) if isinstance(index, gast.Slice) else None
    return None if bounds is None else list(range(count))[slice(*bounds)]


def _statement(node: Node, following: Node | None, work: _Work) -> Block:
    read = next((one for one in loads(node) if one in work.parts), None) if isinstance(node, gast.Assign) else None
    if target(node) in work.parts:
        return [_name_results_of(node, following, work)]
    if read is None:
        return [node]
    user = work.facts.origin.user.get(node, node)
    if user is not work.users[read]:
        work.facts.origin.rewritten[user] = None  # it reads a name that is gone
    return _copies(node, work.parts[read], work.facts)


def _name_results_of(node: Node, following: Node | None, work: _Work) -> Node:
    """`w, v = op(...)`, with the names that the next statement gives; other results are named for what they are."""
    facts, held, several = work.facts, str(target(node)), several_of(node, work.facts)
    given = _names_given_next(held, following, len(several), facts)
    again = len(work.readers[held]) > 1  # reads that follow may find a name bound to something else
    for place, (stem, _) in enumerate(several):
        one = given[place]
        own = one and facts.names.temporaries.get(one) != "t" and one not in loads(node) and given.count(one) == 1
        if not own or (again and work.bound[one] > 1):
            one = facts.names.fresh(stem)
            facts.names.temporaries[one] = stem
        work.parts[held][place] = one
        if held in facts.activity.varied:
            facts.activity.varied[one] = None
    targets = gast.Tuple(elts=[name(one, gast.Store()) for one in work.parts[held]], ctx=gast.Store())
    made = at(gast.Assign([targets], node.value, None), node)
    facts.origin.user[made] = facts.origin.user.get(node, node)
    return made


def _names_given_next(held: str, following: Node | None, count: int, facts: Facts) -> list[str]:
    """The names to which the next statement binds the results; empty for those that it does not read."""
    given = [""] * count
    if following is None or held not in loads(following):
        return given
    place = _place(following, facts, count)
    if place is not None:
        given[place] = str(target(following))
    elif target(following) is None:
        given = [item.id for item in following.targets[0].elts]
    return given


def _copies(node: Node, names: list[str], facts: Facts) -> Block:
    """`x = w` for `x = held[0]`, where the name is not bound to it yet."""
    place = _place(node, facts, len(names))
    if place is not None:
        wanted: list[tuple[str, Node]] = [(str(target(node)), name(names[place]))]
    elif target(node) is None:
        wanted = [(item.id, name(names[k])) for k, item in enumerate(node.targets[0].elts)]
    else:
        some = [name(names[k]) for k in _slice(node, facts, len(names)) or []]
        wanted = [(str(target(node)), gast.Tuple(elts=some, ctx=gast.Load()))]
    made = [at(assign(one, value), node) for one, value in wanted if getattr(value, "id", "") != one]
    for item in made:
        facts.origin.user[item] = facts.origin.user.get(node, node)
    return made
