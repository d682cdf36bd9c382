"""Which values may be inf or nan, and whose adjoints want a mask therefore: docs/decisions/masks.md."""

from __future__ import annotations

import operator

import gast

from srcgrad.derive.floors import floors
from srcgrad.derive.regularity import gives_finite, has_finite_lines, is_finite_quotient, object_of
from srcgrad.facts import UNKNOWN, Facts, Operation
from srcgrad.front.webs import parameters
from srcgrad.rules import rule_of
from srcgrad.trees import Block, Node, header, loads, same, statements, stores, walk, written

_NUMBERS = ("scalar", "function", "object", "none", "other")


def doubts(function: Node, facts: Facts) -> Node:
    """Note the names of doubtful values, and of those whose adjoints meet a factor that is not finite for sure.

    >>> from srcgrad.phases import explain_facts
    >>> list(explain_facts("def f(x):\\n    y = np.sqrt(x)\\n    return np.sum(y)", after="doubts").masked)
    ['y', 'y_']
    """
    if facts.mode == "primal":
        return function
    order = statements(function.body)
    facts.doubts = _doubtful(function, order, facts)
    known = -1
    while facts.doubts and known != len(facts.floors):
        known = len(facts.floors)
        if len(floors(function, order, facts)) != known:
            facts.doubts = _doubtful(function, order, facts)
    facts.least = facts.floors
    facts.floors = {one: least for one, least in facts.floors.items() if one not in facts.doubts}  # inf is no divisor
    facts.masked = _masked(order, facts)
    pieces = _pieces_read(order, facts)
    perhaps = _pieces_read([one for node in order if isinstance(node, gast.If) for one in statements([node])], facts)
    apart = (one for one in facts.masked if one in pieces and one not in perhaps and _is_taken_apart(pieces[one]))
    facts.masked.update(dict.fromkeys(apart, False))
    return function


def _pieces_read(order: Block, facts: Facts) -> dict[str, list[Node]]:
    """By array, the indices with which it is read."""
    found: dict[str, list[Node]] = {}
    for node in order:
        operation = _operation(node, facts)
        if operation is not None and operation.function is operator.getitem:
            found.setdefault(getattr(operation.bound["x"], "id", ""), []).append(operation.bound["index"])
    return found


def _is_taken_apart(read: list[Node]) -> bool:
    """Whether an array is read in pieces that leave none out: `p[:, 0:2]` and `p[:, 2]`, `u[1:]` and `u[:-1]`."""
    axes: dict[int, list[Node]] = {}
    for index in read:
        taken = [part for part in getattr(index, "elts", [index]) if getattr(part, "value", part) is not None]
        dots = [k for k, part in enumerate(taken) if getattr(part, "value", None) is ...]
        for k, part in enumerate(taken):
            if not _is_all(part):
                axes.setdefault(k - len(taken) if dots and k > dots[0] else k, []).append(part)
    return bool(axes) and all(_covers([_piece(part) for part in parts]) for parts in axes.values())


def _covers(found: list[tuple[int, int] | None]) -> bool:
    """Whether pieces of an axis leave none of it out before the end of the last one."""
    pieces = sorted(piece for piece in found if piece is not None)
    if len(pieces) < 2 or len(pieces) < len(found):
        return False
    end = 0
    for start, stop in pieces:
        if start > end:
            return False
        end = max(end, stop)
    return True


_END = 1 << 30  # the end of an axis, some elements before it included


def _piece(part: Node) -> tuple[int, int] | None:
    """From where to where a literal index or slice reads; None for any other."""
    if isinstance(part, gast.Constant) and type(part.value) is int:
        return part.value, part.value + 1
    if not isinstance(part, gast.Slice) or part.step is not None:
        return None
    lower = 0 if part.lower is None else getattr(part.lower, "value", None)
    below = isinstance(part.upper, gast.UnaryOp) and isinstance(part.upper.operand, gast.Constant)
    upper = _END if part.upper is None or below else getattr(part.upper, "value", None)
    return (lower, upper) if type(lower) is int and type(upper) is int else None


def _is_all(part: Node) -> bool:
    if isinstance(part, gast.Slice):
        return part.lower is part.upper is part.step is None
    return isinstance(part, gast.Constant) and part.value in (None, ...)


def _doubtful(function: Node, order: Block, facts: Facts) -> dict[str, None]:
    """Names some value of which may be inf or nan, where the arguments are finite that are differentiated."""
    found = dict.fromkeys(_given(function, order, facts))
    for one in _asked(order, facts):
        found[one] = None
    while True:
        known = len(found)
        for node in order:
            if not _gives_finite(node, facts, found):
                found.update(dict.fromkeys(one for one in stores(node) if one not in facts.integers))
        if len(found) == known:
            return found


def _given(function: Node, order: Block, facts: Facts) -> list[str]:
    """Arrays that the function takes from outside, and is not differentiated by: data may have gaps."""
    bound = {one for node in order for one in stores(node)}
    data = [p for p in parameters(function) if p not in facts.wrt]
    taken = dict.fromkeys(one for node in order for one in loads(node) if one not in bound)
    known = {one: facts.namespace.lookup(one) for one in taken if one not in parameters(function)}
    data += [one for one, held in known.items() if held is not None and type(held.object).__name__ == "ndarray"]
    return [one for one in data if facts.kinds.get(one, UNKNOWN).tag not in _NUMBERS and not _is_whole(one, facts)]


def _is_whole(one: str, facts: Facts) -> bool:
    return one in facts.integers or facts.kinds.get(one, UNKNOWN).dtype == "integer"


def _asked(order: Block, facts: Facts) -> list[str]:
    """Names that are asked for nan, `np.isnan(t)`, and what t is computed from."""
    made = {bound: node for node in order if isinstance(node, gast.Assign) for bound in stores(node)}
    todo = [one for node in order for part in header(node) for one in _asked_in(part, facts)]
    found: dict[str, None] = {}
    while todo:
        one = todo.pop()
        if one not in found:
            found[one] = None
            todo += loads(made[one]) if one in made else ()
    return list(found)


def _asked_in(tree: Node, facts: Facts) -> list[str]:
    """Names that `np.isnan(x)`, `x == x` or `np.nansum(x)` asks."""
    found: list[str] = []
    for part in walk(tree):
        if isinstance(part, gast.Call) and part.args:
            function = object_of(part.func, facts)
            rule = rule_of(function)
            if rule is not None and any(op is function for op in rule.asks):
                found += loads(part.args[0])
        elif isinstance(part, gast.Compare) and same(part.left, part.comparators[0]):
            found += loads(part.left)
    return found


def _operation(node: Node, facts: Facts) -> Operation | None:
    return facts.operation.get(getattr(node, "value", None))


def _gives_finite(node: Node, facts: Facts, doubtful: dict[str, None]) -> bool:
    operation = _operation(node, facts)
    if operation is None:
        value = getattr(node, "value", None)
        lengths = getattr(value, "attr", "") in ("size", "shape", "ndim", "dtype")
        return lengths or (not any(one in doubtful for one in loads(node)) and is_finite_quotient(value, facts))
    return operation.kind == "op" and gives_finite(operation, facts, doubtful)


def _masked(order: Block, facts: Facts) -> dict[str, bool]:
    """Names whose adjoints meet a doubtful factor, or go on to where they do; whether all elements do at once."""
    found: dict[str, bool] = {}
    begun = [(node, [one for one in stores(node) if one in facts.active]) for node in order]
    steps = [(bound, not written(node), meets_doubt(node, facts), loads(node)) for node, bound in begun if bound]
    while True:
        known = dict(found)
        for bound, whole, meets, read in steps:
            if meets or any(one in found for one in read):
                found.update({one: whole or found.get(one, False) for one in bound})
        if found == known:
            return found


def meets_doubt(node: Node, facts: Facts) -> bool:
    """Whether a line of a statement's derivative may multiply or divide by what is not finite."""
    operation = _operation(node, facts)
    if operation is None or operation.kind != "op":
        return False
    finite = not any(one in facts.doubts for one in stores(node))
    return not has_finite_lines(operation, facts, facts.doubts, finite)
