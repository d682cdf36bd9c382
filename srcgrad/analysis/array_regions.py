"""Parts and lengths of arrays as linear expressions: which parts never overlap, which lengths are equal.

A part is an interval whose bounds are linear in the counters of loops, the second one exclusive; None is no bound. It
holds at least what its index selects, so that two that are proved apart are apart.

A length is a symbol, spelled `a.0[j + 1:]`: axis 0 of a, from j + 1 on. It may speak of the counter of a loop; behind
the trip nothing is known of it (`forget`). What a reduction with `keepdims` leaves is `kept: 1 ['z']`, along axis 1 of
the shape {z}, whose rank need not be known.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import field

import gast

from srcgrad.core.facts import Spec
from srcgrad.core.identity import record, replace
from srcgrad.core.trees import (
    Block,
    Node,
    literal_of,
    literal_value,
    loads,
    names_in,
    part_signature,
    slice_signature,
    statements,
    stores,
)
from srcgrad.core.visitor import places

Linear = dict[str, int]  # coefficients; that of "" is the constant
Interval = tuple[Linear | None, Linear | None]


@record
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


@record(frozen=True)
class Integers:
    """Names that an index may hold: those with one value wherever they are read, and those that only loops bind."""

    fixed: frozenset[str]
    counted: frozenset[str]


@record
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
    step = literal_of(call.args[2]) if len(call.args) == 3 else 1
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


Extents = tuple[str, ...]


def extents(spec: Spec) -> Extents | None:
    """The lengths of the axes; None where the rank is unknown."""
    if spec.extents is not None or spec.ndim is None or spec.ndim < 0:
        return spec.extents
    whole = short_symbol(" & ".join(sorted(spec.shape)))
    return tuple(f"{whole}.{axis}" for axis in range(spec.ndim))


def canonical_spec(spec: Spec) -> Spec:
    """The spec with its extents, where the rank is known: equal extents have one spelling."""
    known = extents(spec)
    if known is None or spec.extents is not None:
        return spec
    return replace(with_extents(known, spec.dtype), length=spec.length)


def broadcast(one: Extents, two: Extents) -> Extents:
    """The lengths of the axes of what broadcasting makes of two shapes.

    >>> broadcast(("n", "d"), ("1",)), broadcast(("n", "d"), ("m", "1", "d"))
    (('n', 'd'), ('m', 'n', 'd'))
    >>> broadcast(("n",), ("m",))
    ('m^n',)
    """
    if len(one) < len(two):
        one, two = two, one
    lead = len(one) - len(two)
    return (*one[:lead], *(_broadcast_length(a, b) for a, b in zip(one[lead:], two, strict=True)))


def _broadcast_length(one: str, two: str) -> str:
    """The length of an axis along which two broadcast: a literal that is not 1 decides."""
    atoms = {*one.split("^"), *two.split("^")} - {"1"}
    literal = sorted(atom for atom in atoms if atom.isdigit())
    return "^".join(literal or sorted(atoms)) or "1"


def nested_length(length: str) -> str:
    """A length as a part of the symbol of another one, where it must not be taken apart: `n^m` is `(n~m)`.

    >>> nested_length("n"), nested_length("n^m")
    ('n', '(n~m)')
    """
    return f"({short_symbol(length.replace('^', '~'))})" if "^" in length else short_symbol(length)


_LONG = 200  # of a symbol: more than any that one reads in the text of a check


def short_symbol(symbol: str) -> str:
    """A symbol as a part of others, of which some longer ones would have it twice: a long one gets a number instead.

    Equal ones get equal numbers, and the counters of which it speaks (see `forget`) are still said.

    >>> short_symbol("a.0[1:]"), short_symbol("x" * 1000)
    ('a.0[1:]', '#44f8354494a5ba03')
    """
    if len(symbol) <= _LONG:
        return symbol
    marks = dict.fromkeys(re.findall(r"\|\w+\|", symbol))
    return f"#{hashlib.sha256(symbol.encode()).hexdigest()[:16]}{''.join(marks)}"


def summed_axes(made: Extents, wanted: Extents) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The axes of a value that broadcasting added before those of an operand, and those that it widened from 1.

    None where the lengths do not tell.

    >>> summed_axes(("n", "d"), ("d",)), summed_axes(("n", "d"), ("n", "1")), summed_axes(("n", "d"), ("k", "d"))
    (((0,), ()), ((), (1,)), None)
    """
    lead = len(made) - len(wanted)
    if lead < 0:
        return None
    widened = []
    for axis, (a, b) in enumerate(zip(made[lead:], wanted, strict=True)):
        if a != b and b != "1":
            return None
        if a != b:
            widened.append(lead + axis)
    return tuple(range(lead)), tuple(widened)


def with_extents(found: Extents, dtype: frozenset[str]) -> Spec:
    """The spec of a value with these extents: equal ones give equal shapes."""
    shape = frozenset([f"<{', '.join(found)}>"]) if found else frozenset()
    return Spec(shape, dtype, len(found), found)


def part_of(
    whole: Spec, index: Node, integers: frozenset[str], counters: frozenset[str], fresh: str = ""
) -> Spec | None:
    """The spec of `a[index]` for integers, None, and slices whose bounds are literals, or arithmetic of counters."""
    known = extents(whole)
    parts = _without_ellipsis(index.elts if isinstance(index, gast.Tuple) else [index], len(known or ()))
    used = [one for one in parts if not _is(one, None)]
    if known is None or len(used) > len(known):
        return None
    made: list[str] = []
    left = iter(known)
    for one in parts:
        if _is(one, None):
            made.append("1")
            continue
        axis = next(left)
        signature = part_signature(one, integers)
        if signature is None and isinstance(one, gast.Slice) and set(loads(one)) <= counters:
            marks = "".join(f"|{name}|" for name in dict.fromkeys(loads(one)))
            signature = f"{gast.unparse(gast.fix_missing_locations(_subscript(one)))} {marks}"
        if signature is None and isinstance(one, gast.Slice) and fresh:
            signature = f"{fresh} {len(made)}"  # some length of its own
        if signature is None or (signature != "int" and not isinstance(one, gast.Slice)):
            return None
        if signature != "int":
            made.append(axis if signature == "0" else _cut(axis, one) or f"{nested_length(axis)}[{signature}]")
    found = (*made, *known[len(used) :])
    return whole if found == known else with_extents(found, whole.dtype)


def cut(whole: Spec, index: Node, integers: frozenset[str] = frozenset()) -> Spec | None:
    """The spec of `a[index]` for slices with literal bounds, where the rank need not be known; None for others."""
    signature = slice_signature(index, integers)
    if signature is None:
        return None
    return Spec(frozenset([f"({short_symbol(' & '.join(sorted(whole.shape)))})[{signature}]"]), whole.dtype, None)


def _cut(axis: str, one: Node) -> str | None:
    """The length of a slice with literal bounds, of an axis whose length is a number: 2 of `0:2` of 3."""
    if not axis.isdigit():
        return None
    try:
        bounds = [None if bound is None else literal_value(bound) for bound in (one.lower, one.upper, one.step)]
    except ValueError:
        return None
    return str(len(range(int(axis))[slice(*bounds)])) if bounds[2] != 0 else None


def _is(one: Node, value: object) -> bool:
    return isinstance(one, gast.Constant) and one.value is value


def _without_ellipsis(parts: list[Node], rank: int) -> list[Node]:
    """The parts of an index with a `:` for each axis that `...` stands for."""
    place = next((k for k, one in enumerate(parts) if _is(one, Ellipsis)), None)
    if place is None:
        return parts
    missing = rank - sum(1 for one in parts if not _is(one, None)) + 1
    return [*parts[:place], *(gast.Slice(None, None, None) for _ in range(missing)), *parts[place + 1 :]]


def _subscript(one: Node) -> Node:
    return gast.Subscript(value=gast.Name("_", gast.Load(), None, None), slice=one, ctx=gast.Load())


def product(one: Spec, two: Spec, dtype: frozenset[str]) -> Spec | None:
    """The spec of `a @ b`: of the axes before the last two, which broadcast, and of the outer ones."""
    left, right = extents(one), extents(two)
    if not left or not right:
        return None
    outer = (*left[-2:-1], *(right[-1:] if len(right) > 1 else ()))
    return with_extents((*broadcast(left[:-2], right[:-2]), *outer), dtype)


def cross(one: Spec, two: Spec, dtype: frozenset[str]) -> Spec | None:
    """The spec of `np.cross(a, b)` where one of them has vectors of three numbers; of two pairs it is another."""
    left, right = extents(one), extents(two)
    if not left or not right or "3" not in (left[-1], right[-1]):
        return None
    return with_extents((*broadcast(left[:-1], right[:-1]), "3"), dtype)


def constants(function: Node) -> frozenset[str]:
    """Names that mean one value wherever they are read: parameters that nothing binds anew, and names bound once."""
    bound = Counter(s for node in statements(function.body) for s in stores(node))
    loops = [n for n in statements(function.body) if isinstance(n, gast.For | gast.While)]
    again = {s for loop in loops for node in statements([loop]) for s in stores(node)}
    own = names_in(function.args)
    return frozenset(({name for name, times in bound.items() if times == 1} - own | (own - set(bound))) - again)


def counters(function: Node) -> frozenset[str]:
    """Counters of loops over `range` that nothing else binds."""
    bound = Counter(s for node in statements(function.body) for s in stores(node))
    ranges = [n for n in statements(function.body) if isinstance(n, gast.For) and isinstance(n.iter, gast.Call)]
    found = [n.target.id for n in ranges if isinstance(n.target, gast.Name)]
    return frozenset(name for name in found if bound[name] == 1)


def forget(known: dict[str, Spec], loop: Node, where: str) -> dict[str, Spec]:
    """What is known behind a trip of a loop: extents that speak of its counter hold no longer."""
    marks = [f"|{name}|" for name in stores(loop)] if isinstance(loop, gast.For) else []
    made = dict(known)
    moved = {name for name, spec in known.items() for symbol in spec.shape for mark in marks if mark in symbol}
    for name in moved:
        made[name] = Spec(frozenset([f"{name} at {where}"]), known[name].dtype, known[name].ndim)
    return made


_MARK = "kept:"  # no name of a program ends like that


def keepdims_shape(shape: frozenset[str], axis: object) -> frozenset[str]:
    """The shape of a reduction of a shape along `axis` with `keepdims=True`."""
    return frozenset([f"{_MARK} {str(axis).replace(' ', '')} {sorted(map(short_symbol, shape))!r}"]) if shape else shape


def without_kept(shape: frozenset[str]) -> frozenset[str]:
    """The shape without parts that broadcast into the rest of it.

    >>> sorted(without_kept(frozenset("z") | keepdims_shape(frozenset("z"), 1)))
    ['z']
    >>> sorted(without_kept(frozenset("x") | keepdims_shape(frozenset("z"), 1)))
    ["kept: 1 ['z']", 'x']
    """
    reduced = {symbol: frozenset(_items_of_symbol(symbol)) for symbol in shape if symbol.startswith(f"{_MARK} ")}
    whole = frozenset(map(short_symbol, shape))
    return frozenset(s for s in shape if s not in reduced or not reduced[s] <= whole)


def axis_kept(shape: frozenset[str], whole: frozenset[str]) -> object:
    """The axis along which a shape is what a reduction leaves of `whole`; Ellipsis if it is nothing of the kind."""
    if len(shape) == 1:
        symbol = next(iter(shape))
        if symbol.startswith(f"{_MARK} ") and frozenset(_items_of_symbol(symbol)) == frozenset(
            map(short_symbol, whole)
        ):
            return ast.literal_eval(symbol.split(" ", 2)[1])
    return ...


def _items_of_symbol(symbol: str) -> list[str]:
    found: list[str] = ast.literal_eval(symbol.split(" ", 2)[2])
    return found
