"""Facts that are needed before the normal form: bound names, integers, what may vary.

Which names are bound wherever they are read: definite assignment, with every way out of a block followed.

Which names hold an integer: counters of loops, and lengths, with what is computed from these by + - * // %.

Names that may depend on a differentiated input, before the tree is in normal form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import gast
import numpy as np

from srcgrad.core.expressions import is_integer
from srcgrad.core.facts import LOOP, Facts
from srcgrad.core.rules import rule_of
from srcgrad.core.trees import (
    Block,
    Node,
    children,
    header,
    holds,
    loads,
    name,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.core.walks import walk_of
from srcgrad.frontend.kinds_of_values import is_own
from srcgrad.frontend.resolve import PASSIVE_ATTRIBUTES, binding_of

Names = frozenset[str]
After = Names | None  # names bound for sure at the end of a block; None if the end is never reached


@dataclass
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
            always = {one for part in header(node) for one in _read_always(part)}
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


def _read_always(node: Node) -> Iterator[str]:
    """Names that an expression or a statement reads whatever the values: not those of a branch that it may not take."""
    if isinstance(node, gast.Name):
        yield node.id
    elif isinstance(node, gast.IfExp):
        yield from _read_always(node.test)
    elif isinstance(node, gast.BoolOp):
        yield from _read_always(node.values[0])
    elif not isinstance(node, gast.Lambda | gast.ListComp | gast.SetComp | gast.DictComp | gast.GeneratorExp):
        for part in gast.iter_child_nodes(node):
            yield from _read_always(part)


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
    local = {n.id for n in walk(function.args) if isinstance(n, gast.Name)} | {s for n in order for s in stores(n)}
    known = _KnownNames(facts, frozenset(local), _arrays(order), order)
    found: dict[str, list[Node | bool]] = {}
    for node in order:
        for held, value in known.bindings(node):
            found.setdefault(held, []).append(value)
    for parameter in (n.id for n in walk(function.args) if isinstance(n, gast.Name)):
        found.pop(parameter, None)
    whole = dict.fromkeys(found)
    while True:  # names that count read themselves: all may be integers until one binding says otherwise
        left = {s: None for s in whole if all(v is True or known.is_integer(v, whole) for v in found[s])}
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
    known = _KnownNames(facts, facts.local, frozenset(), order)
    values = [value for node in order for one, value in known.bindings(node) if one == parameter]
    return any(value is True or (value is not False and known.is_integer(value, {})) for value in values)


def _is_parameter(node: Node) -> bool:
    return isinstance(node, gast.Name) and isinstance(node.ctx, gast.Param)


def _is_item(value: Node, ranges: set[str]) -> bool:
    """`trips[place]`, an item of a range."""
    return isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name) and value.value.id in ranges


def _arrays(order: list[Node]) -> frozenset[str]:
    """Names of which elements or values are taken as of arrays: their attribute `shape` is that of an array."""
    found = set()
    for part in (part for node in order for part in header(node)):
        for item in walk(part):
            used = [item.value] if isinstance(item, gast.Subscript) else []
            if isinstance(item, gast.BinOp):
                used = [item.left, item.right]
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
        return [(n.id, plain and self._is_shape(value)) for n in walk(places) if isinstance(n, gast.Name)]

    def _is_shape(self, value: Node) -> bool:
        return isinstance(value, gast.Attribute) and value.attr == "shape" and self._is_array(value.value)

    def _is_array(self, value: Node) -> bool:
        return isinstance(value, gast.Name) and value.id in self.arrays and value.id not in self.facts.records

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
    found = dict.fromkeys(inputs or facts.wrt)
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
    varied = dict.fromkeys(varied_names(function, facts, facts.local, inputs))
    values = [n for n in statements(function.body) if isinstance(n, gast.Assign | gast.AugAssign)]
    return frozenset(s for n in values if reads_varied(n.value, varied, facts, facts.local) for s in stores(n))


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
