"""Parts of arrays as intervals whose bounds are linear in the counters of loops: which ones can never overlap.

An interval is a pair of bounds, the second one exclusive; None is no bound. Every region holds at least what its index
selects, so that two regions proved apart are apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from dataclasses import dataclass as record

import gast

from srcgrad.core.trees import Block, Node, literal_value, loads, stores
from srcgrad.core.visitor import places

Linear = dict[str, int]  # coefficients; that of "" is the constant
Interval = tuple[Linear | None, Linear | None]


@dataclass
class Variable:
    """A counter of a loop in one of its trips: bounds that hold for it, both inclusive."""

    key: str
    lowest: list[Linear] = field(default_factory=list)
    highest: list[Linear] = field(default_factory=list)


@record(frozen=True)
class Where:
    """Where an array is read or written: the loops around, outermost first, and the place in the text."""

    loops: tuple[Node, ...]
    position: int


@dataclass(frozen=True)
class Integers:
    """Names that an index may hold: those with one value wherever they are read, and those that only loops bind."""

    fixed: frozenset[str]
    counted: frozenset[str]


@dataclass
class Setting:
    """Variables in play, outer before inner, and what the names in an index are called among them."""

    variables: list[Variable]
    keys: dict[str, str]
    known: Integers


def regions(block: Block) -> dict[Node, Where]:
    """Where each statement of a block stands."""
    return {place.node: Where(place.loops, number) for number, place in enumerate(places(block))}


def regions_are_disjoint(one: Node, place: Where, other: Node, later: Where, known: Integers) -> bool:
    """Whether `a[one]`, at a place, overlaps no `a[other]` that is reached later than it."""
    return all(_disjoint(one, first, other, second) for first, second in _meetings(place, later, known))


def _meetings(place: Where, later: Where, known: Integers) -> Iterator[tuple[Setting, Setting]]:
    """Every way in which the second place is reached after the first: in the same trips, or in a later one."""
    common = 0
    while common < min(len(place.loops), len(later.loops)) and place.loops[common] is later.loops[common]:
        common += 1
    if later.position > place.position:
        yield _settings_of_pair(place, later, common, False, known)
    for level in range(common):
        yield _settings_of_pair(place, later, level, True, known)


def _settings_of_pair(
    place: Where, later: Where, shared: int, another: bool, known: Integers
) -> tuple[Setting, Setting]:
    variables: list[Variable] = []
    first, second = Setting(variables, {}, known), Setting(variables, {}, known)
    for depth, loop in enumerate(place.loops):
        _enter(loop, first, "")
        if depth < shared:
            second.keys = dict(first.keys)
    for depth, loop in enumerate(later.loops[shared:]):
        before = first.keys.get(counter(loop))
        _enter(loop, second, "'")
        if another and depth == 0 and before is not None:
            _advance_counter(variables[-1], before, loop)
    return first, second


def counter(loop: Node) -> str:
    """The counter of `for i in range(...)`, or of its reverse; an empty string for other loops."""
    if isinstance(loop, gast.For) and isinstance(loop.target, gast.Name) and _steps(loop) is not None:
        return str(loop.target.id)
    return ""


def _steps(loop: Node) -> tuple[list[Node], int, bool] | None:
    """The bounds of a loop over `range`, its step, and whether it runs through it backwards."""
    call, backwards = loop.iter, False
    if isinstance(call, gast.Call) and isinstance(call.func, gast.Name) and call.func.id == "reversed":
        call, backwards = call.args[0], True
    if not (isinstance(call, gast.Call) and isinstance(call.func, gast.Name) and call.func.id == "range"):
        return None
    step = 1
    if len(call.args) == 3:
        try:
            step = literal_value(call.args[2])
        except (ValueError, TypeError):
            return None
    return (call.args, step, backwards) if isinstance(step, int) and step and not call.keywords else None


def _enter(loop: Node, setting: Setting, mark: str) -> None:
    """Count a loop's counter among the variables."""
    name = counter(loop)
    for bound in stores(loop) if isinstance(loop, gast.For) else []:
        setting.keys.pop(bound, None)
    found = _steps(loop) if name in setting.known.counted else None
    if found is None:
        return
    bounds, step, _ = found
    start = {"": 0} if len(bounds) == 1 else linear_form(bounds[0], setting)
    stop = linear_form(bounds[0] if len(bounds) == 1 else bounds[1], setting)
    variable = Variable(f"{name}{mark}{len(setting.variables)}")
    if step < 0:
        start, stop = _plus(stop, 1), _plus(start, 1)
    variable.lowest = [] if start is None else [start]
    variable.highest = [bound for bound in [_plus(stop, -1)] if bound is not None]
    setting.variables.append(variable)
    setting.keys[name] = variable.key


def _advance_counter(variable: Variable, before: str, loop: Node) -> None:
    """In a later trip the counter has moved on."""
    found = _steps(loop)
    assert found is not None, "a loop with a counter"
    _, step, backwards = found
    if (step > 0) != backwards:
        variable.lowest.append({before: 1, "": abs(step)})
    else:
        variable.highest.append({before: 1, "": -abs(step)})


def linear_form(node: Node, setting: Setting) -> Linear | None:
    """An index as a linear form; None if it is not one."""
    if isinstance(node, gast.Constant):
        return {"": node.value} if type(node.value) is int else None
    if isinstance(node, gast.Name) and node.id in setting.keys:
        return {setting.keys[node.id]: 1}
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        return _scale_form(linear_form(node.operand, setting), -1)
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Add | gast.Sub):
        sign = 1 if isinstance(node.op, gast.Add) else -1
        return _sum(linear_form(node.left, setting), _scale_form(linear_form(node.right, setting), sign))
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult):
        for one, two in ((node.left, node.right), (node.right, node.left)):
            if isinstance(one, gast.Constant) and type(one.value) is int:
                return _scale_form(linear_form(two, setting), one.value)
    if set(loads(node)) <= setting.known.fixed | {"len"}:
        return {gast.unparse(node): 1}
    return None


def _scale_form(form: Linear | None, factor: int) -> Linear | None:
    return None if form is None else {key: factor * value for key, value in form.items()}


def difference(one: Linear, two: Linear) -> Linear:
    """By how much one form is larger than another."""
    return {key: one.get(key, 0) - two.get(key, 0) for key in {**one, **two}}


def _plus(form: Linear | None, number: int) -> Linear | None:
    return _sum(form, {"": number})


def _sum(one: Linear | None, two: Linear | None) -> Linear | None:
    if one is None or two is None:
        return None
    return {key: one.get(key, 0) + two.get(key, 0) for key in {**one, **two}}


def _region(index: Node, setting: Setting) -> list[Interval]:
    """The intervals of the axes that an index names; axes beyond them are taken whole."""
    found: list[Interval] = []
    for part in index.elts if isinstance(index, gast.Tuple) else [index]:
        if isinstance(part, gast.Constant) and (part.value is None or part.value is Ellipsis):
            return found
        if isinstance(part, gast.Slice):
            found.append(_slice(part, setting))
            continue
        place = _from_start(linear_form(part, setting), setting)
        found.append((place, _plus(place, 1)))
    return found


def _slice(part: Node, setting: Setting) -> Interval:
    if part.step is not None and not (isinstance(part.step, gast.Constant) and part.step.value > 0):
        return None, None
    ends = [
        None if end is None else _from_start(linear_form(end, setting), setting) for end in (part.lower, part.upper)
    ]
    return ends[0], ends[1]


def _from_start(form: Linear | None, setting: Setting) -> Linear | None:
    """A place counted from the start of the axis: what may be negative is counted from its end."""
    return form if form is not None and not_negative(form, setting.variables) else None


def _disjoint(one: Node, first: Setting, other: Node, second: Setting) -> bool:
    for (low, high), (start, stop) in zip(_region(one, first), _region(other, second), strict=False):
        for end, begin in ((high, start), (stop, low)):
            gap = _sum(begin, _scale_form(end, -1))
            if gap is not None and not_negative(gap, first.variables):
                return True
    return False


def not_negative(form: Linear, variables: list[Variable]) -> bool:
    """Whether a linear form is at least 0 for all values of the variables, inner ones replaced by their bounds."""
    for number in range(len(variables) - 1, -1, -1):
        variable = variables[number]
        factor = form.get(variable.key, 0)
        if factor:
            rest = {key: value for key, value in form.items() if key != variable.key}
            bounds = variable.lowest if factor > 0 else variable.highest
            return any(
                not_negative(total, variables[:number])
                for bound in bounds
                if (total := _sum(rest, _scale_form(bound, factor))) is not None
            )
    return form.get("", 0) >= 0 and not any(value for key, value in form.items() if key)
