"""Lengths of axes as symbols, by which two shapes are proved equal.

How long the axes of a value are, as symbols: slices with equal bounds, and their products, have equal lengths.

An extent is spelled `a.0[j + 1:]`: axis 0 of a, from j + 1 on. It may speak of the counter of a loop, whose value one
trip long is one value; behind the trip nothing is known of such an extent (`forget`).

The shape of what a reduction leaves: with `keepdims`, it broadcasts into the shape that was reduced.

It is spelled `kept: 1 ['z']`: what a reduction along axis 1 with `keepdims=True` leaves of the shape {z}, whose rank
need not be known.
"""

from __future__ import annotations

import ast
import hashlib
import re
from dataclasses import replace

import gast

from srcgrad.core.expressions import part_signature, slice_signature
from srcgrad.core.facts import Spec
from srcgrad.core.trees import Node, literal_value, loads, statements, stores, walk

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
    bound = [s for node in statements(function.body) for s in stores(node)]
    loops = [n for n in statements(function.body) if isinstance(n, gast.For | gast.While)]
    again = {s for loop in loops for node in statements([loop]) for s in stores(node)}
    own = {n.id for n in walk(function.args) if isinstance(n, gast.Name)}
    return frozenset(({name for name in bound if bound.count(name) == 1} - own | (own - set(bound))) - again)


def counters(function: Node) -> frozenset[str]:
    """Counters of loops over `range` that nothing else binds."""
    bound = [s for node in statements(function.body) for s in stores(node)]
    ranges = [n for n in statements(function.body) if isinstance(n, gast.For) and isinstance(n.iter, gast.Call)]
    found = [n.target.id for n in ranges if isinstance(n.target, gast.Name)]
    return frozenset(name for name in found if bound.count(name) == 1)


def forget(known: dict[str, Spec], loop: Node, where: str) -> dict[str, Spec]:
    """What is known behind a trip of a loop: extents that speak of its counter hold no longer."""
    marks = [f"|{name}|" for name in stores(loop)] if isinstance(loop, gast.For) else []
    made = dict(known)
    for name, spec in known.items() if marks else ():
        symbols = " ".join(spec.shape)
        if [mark for mark in marks if mark in symbols]:
            made[name] = Spec(frozenset([f"{name} at {where}"]), spec.dtype, spec.ndim)
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
