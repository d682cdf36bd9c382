"""What `spread`, the transpose of a sum, gives each element is broadcast to them anyway: it need not be written out."""

from __future__ import annotations

import gast

from srcgrad.analyse.adjoint_shapes import spec_of_tree
from srcgrad.analyse.extents import extents, with_extents
from srcgrad.converted import literal_value
from srcgrad.facts import Facts, Spec
from srcgrad.trees import Node, expression


def is_spread(value: Node, facts: Facts) -> bool:
    """Whether a tree is `spread(g, a, axis, keepdims)`, the transpose of a sum."""
    return (
        isinstance(value, gast.Call)
        and isinstance(value.func, gast.Name)
        and value.func.id == facts.imports.get("spread")
    )


def narrow_form(value: Node, facts: Facts) -> Node | None:
    """What `spread` broadcasts, where its axis is a literal: `g`, or g with an axis more; None otherwise."""
    g, axis, keepdims = value.args[0], *_literals(value)
    if spec_of_tree(g, facts).scalar:
        return g
    if axis is ... or keepdims is ...:
        return None
    whole = spec_of_tree(value.args[1], facts)
    if whole.ndim == 1 and axis in (0, -1, (0,), (-1,)) and not keepdims:
        return g
    known = spec_of_tree(g, facts)
    if axis is None or keepdims:
        if axis is None and not keepdims:
            return g
        return g if known.ndim is not None else _neutral(g, known, facts)
    rank = whole.ndim
    if rank is not None and axis in (-1, (-1,)) and rank > 1:
        axis = rank - 1
    if isinstance(axis, int) and (axis > 0 or (axis == 0 and known.ndim)):  # the sum has an axis: it is an array
        made = expression(f"g[{':, ' * axis}None]", g=g)
    else:
        made = expression(f"{facts.library('np')}.expand_dims(g, {axis!r})", g=g)
    lengths = extents(known)
    if isinstance(axis, int) and lengths and rank == len(lengths) + 1 and axis >= 0:
        facts.spec[made] = with_extents((*lengths[:axis], "1", *lengths[axis:]), known.dtype)
        return made
    return _neutral(made, known, facts)


def _neutral(node: Node, spec: Spec, facts: Facts) -> Node:
    """Note that a tree broadcasts into the shape of whatever it is combined with."""
    facts.spec[node] = Spec(frozenset(), spec.dtype, None)
    return node


def _literals(value: Node) -> tuple[object, object]:
    """The axis and keepdims of a `spread`; Ellipsis where they are not literal."""
    found: list[object] = [None, False]
    for position, node in enumerate(value.args[2:4]):
        try:
            found[position] = literal_value(node)
        except (ValueError, TypeError):
            found[position] = ...
    axis, keepdims = found
    if axis is not None and axis is not ... and not isinstance(axis, int | tuple):
        axis = ...
    return axis, keepdims
