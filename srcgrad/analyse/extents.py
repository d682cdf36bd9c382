"""How long the axes of a value are, as symbols: slices with equal bounds, and their products, have equal lengths.

An extent is spelled `a.0[j + 1:]`: axis 0 of a, from j + 1 on. It may speak of the counter of a loop, whose value one
trip long is one value; behind the trip nothing is known of such an extent (`forget`).
"""

from __future__ import annotations

import gast

from srcgrad.facts import Spec
from srcgrad.indices import part_signature
from srcgrad.trees import Node, loads, statements, stores

Extents = tuple[str, ...]


def extents(spec: Spec) -> Extents | None:
    """The lengths of the axes; None where the rank is unknown."""
    if spec.extents is not None or spec.ndim is None:
        return spec.extents
    whole = " & ".join(sorted(spec.shape))
    return tuple(f"{whole}.{axis}" for axis in range(spec.ndim))


def with_extents(found: Extents, dtype: frozenset[str]) -> Spec:
    """The spec of a value with these extents: equal ones give equal shapes."""
    shape = frozenset([f"<{', '.join(found)}>"]) if found else frozenset()
    return Spec(shape, dtype, len(found), found)


def part_of(whole: Spec, index: Node, integers: frozenset[str], counters: frozenset[str]) -> Spec | None:
    """The spec of `a[index]` for integers and slices whose bounds are literals, or arithmetic of counters of loops."""
    known = extents(whole)
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    if known is None or len(parts) > len(known):
        return None
    made: list[str] = []
    for axis, one in zip(known, parts, strict=False):
        signature = part_signature(one, integers)
        if signature is None and isinstance(one, gast.Slice) and set(loads(one)) <= counters:
            marks = "".join(f"|{name}|" for name in dict.fromkeys(loads(one)))
            signature = f"{gast.unparse(gast.fix_missing_locations(_subscript(one)))} {marks}"
        if signature is None or (signature != "int" and not isinstance(one, gast.Slice)):
            return None
        if signature != "int":
            made.append(axis if signature == "0" else f"{axis}[{signature}]")
    found = (*made, *known[len(parts) :])
    return whole if found == known else with_extents(found, whole.dtype)


def _subscript(one: Node) -> Node:
    return gast.Subscript(value=gast.Name("_", gast.Load(), None, None), slice=one, ctx=gast.Load())


def product(one: Spec, two: Spec, dtype: frozenset[str]) -> Spec | None:
    """The spec of `a @ b` for ranks 1 and 2."""
    left, right = extents(one), extents(two)
    if left is None or right is None or not 1 <= len(left) <= 2 or not 1 <= len(right) <= 2:
        return None
    return with_extents((*left[:-1], *(right[1:] if len(right) == 2 else ())), dtype)


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
    for name, spec in known.items():
        if any(mark in symbol for symbol in spec.shape for mark in marks):
            made[name] = Spec(frozenset([f"{name} at {where}"]), spec.dtype, spec.ndim)
    return made
