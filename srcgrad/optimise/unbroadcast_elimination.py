"""Sums and axes that broadcasting makes needless.

What broadcasting does anyway is not written.

`e[None] * x` is `e * x`, and `np.broadcast_to(e, np.shape(x)) + g` is `e + g`, where x and g have one shape.

`e.sum(axis=1, keepdims=True)[:, 0]` is `e.sum(axis=1)`: an axis that is kept to be taken off at once is not kept.
"""

from __future__ import annotations

import gast
import numpy as np

from srcgrad.analysis.axis_lengths import extents
from srcgrad.analysis.shape_rules import spec_of_tree
from srcgrad.core.facts import Facts, Spec
from srcgrad.core.meanings import function_called
from srcgrad.core.trees import COMPOUND, Block, Node, find_nodes, header, loads, statements, stores, target, walk
from srcgrad.core.visitor import rewrite_blocks
from srcgrad.derive.program import Program
from srcgrad.frontend.resolve import binding_of


def unbroadcast_elimination(program: Program, facts: Facts) -> Program:
    """Leave out leading axes of length 1, and the stretching of what is added to a value of the stretched shape.

    >>> import numpy as np, srcgrad
    >>> def shares(x):
    ...     return np.sum(np.log(np.sum(np.exp(x), axis=0)))
    >>> slope = srcgrad.value_and_grad(shares)
    >>> _ = slope(np.ones((2, 3)))
    >>> print(slope.source.splitlines()[-2])
        x_bar = y_bar / t2 * t1
    """
    if facts.module is not None and facts.module.leading.axis:
        return program  # a further axis stands in front of all of these
    program.backward = rewrite_blocks(program.backward, lambda block: _block(block, facts))
    for node in statements(program.backward):
        for part in header(node):
            for whole in walk(part):
                if isinstance(whole, gast.BinOp) and not isinstance(whole.op, gast.MatMult):
                    _without_lead(whole, facts)
                    _without_stretch(whole, facts)
    return program


_SIDES = (("left", "right"), ("right", "left"))


def _without_lead(whole: Node, facts: Facts) -> None:
    """`e` for an operand `e[None]` of arithmetic, where the other has those axes in any case."""
    for side, opposite in _SIDES:
        operand, other = getattr(whole, side), getattr(whole, opposite)
        if not isinstance(operand, gast.Subscript):
            continue
        ours, theirs = _rank(operand.value, facts), _rank(other, facts)
        if ours is not None and theirs is not None and 0 < _lead(operand.slice) <= theirs - ours:
            setattr(whole, side, operand.value)


def _rank(value: Node, facts: Facts) -> int | None:
    """How many axes a value has; None where that is not known."""
    known = spec_of_tree(value, facts).ndim
    if known is None and isinstance(value, gast.BinOp) and not isinstance(value.op, gast.MatMult):
        sides = _rank(value.left, facts), _rank(value.right, facts)
        return None if None in sides else max(side for side in sides if side is not None)
    if known is None and isinstance(value, gast.Call) and len(value.args) == 1 and len(value.keywords) == 1:
        found, (word,) = binding_of(value.func, facts, facts.local), value.keywords
        along = word.value.value if word.arg == "axis" and isinstance(word.value, gast.Constant) else None
        whole = _rank(value.args[0], facts) if found is not None and found.object is np.sum else None
        return whole - 1 if whole and type(along) is int else None
    return known


def _lead(index: Node) -> int:
    """How many axes of length 1 an index puts in front of an array that it otherwise leaves as it is; 0 for others."""
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    new = [isinstance(part, gast.Constant) and part.value is None for part in parts]
    lead = new.index(False) if False in new else len(new)
    whole = all(isinstance(part, gast.Slice) and part.lower is part.upper is part.step is None for part in parts[lead:])
    return lead if whole else 0


def _block(block: Block, facts: Facts) -> Block:
    """A block in which `x_bar = np.broadcast_to(e, np.shape(x))` and then `x_bar = x_bar + g` are `x_bar = e + g`."""
    made: Block = []
    last: dict[str, Node] = {}  # the last statement that mentions a name
    for node in block:
        if node in facts.accumulates and (found := _stretched_contribution(node, made, last, facts)) is not None:
            made.remove(found[0])
            facts.accumulates.pop(node)
            node.value = gast.BinOp(found[1], node.value.op, node.value.right)
            for name in _names_mentioned(found[0]):
                if last[name] is found[0]:
                    last[name] = next((first for first in reversed(made) if name in _names_mentioned(first)), node)
        made.append(node)
        last.update(dict.fromkeys(_names_mentioned(node), node))
    return made


def _names_mentioned(node: Node) -> list[str]:
    inner = statements([node]) if isinstance(node, COMPOUND) else [node]
    return [name for one in inner for name in (*loads(one), *stores(one))]


def _stretched_contribution(node: Node, before: Block, last: dict[str, Node], facts: Facts) -> tuple[Node, Node] | None:
    """The statement that binds what is added to here to something stretched, and what that is, if it may move."""
    held, value = target(node), node.value
    if held is None or not isinstance(value, gast.BinOp) or getattr(value.left, "id", "") != held:
        return None
    first = last.get(held)
    if first is None or target(first) != held or held in loads(value.right) or facts.calls_hooks(node):
        return None
    narrow = _narrow_value(first, value.right, facts)
    if narrow is None or facts.calls_hooks(first):
        return None
    since = statements(before[before.index(first) + 1 :])
    return (
        None
        if facts.names_and_bases(loads(narrow)) & {name for one in since for name in stores(one)}
        else (first, narrow)
    )


def _narrow_value(first: Node, added: Node, facts: Facts) -> Node | None:
    """What `x_bar = np.broadcast_to(e, ...)` or `np.full_like(x, e)` stretches, where `added` has the shape of x."""
    found, due = _stretch(first.value, facts), facts.spec.get(first)
    return found[0] if found is not None and due is not None and _is_filled(*found, due, added, facts) else None


def _without_stretch(whole: Node, facts: Facts) -> None:
    """`e` for an operand `np.full_like(x, e)` of arithmetic, where the other has the shape of x."""
    for side, opposite in _SIDES:  # of two that are stretched one stays
        found, other = _stretch(getattr(whole, side), facts), getattr(whole, opposite)
        if found is not None and _is_filled(*found, spec_of_tree(found[1], facts), other, facts):
            setattr(whole, side, found[0])


def _stretch(value: Node, facts: Facts) -> tuple[Node, Node, bool] | None:
    """The e and x of `np.full_like(x, e)`, also `np.full_like(x[None], e)[0]`, and `np.broadcast_to(e, np.shape(x))`.

    And whether the dtype is that of x, rather than of e.
    """
    call = value.value if isinstance(value, gast.Subscript) else value
    if not isinstance(call, gast.Call) or call.keywords or len(call.args) != 2:
        return None
    function = function_called(call, facts)
    if call is not value:
        model = call.args[0]
        new = isinstance(model, gast.Subscript) and gast.unparse(model.slice) == "None"
        first = isinstance(value.slice, gast.Constant) and value.slice.value == 0
        return (call.args[1], model.value, True) if new and first and function is np.full_like else None
    if function is np.full_like:
        return call.args[1], call.args[0], True
    shape = call.args[1]
    of_model = function_called(shape, facts) is np.shape
    return (call.args[0], shape.args[0], False) if function is np.broadcast_to and of_model else None


def _is_filled(narrow: Node, _: Node, of_model: bool, due: Spec, other: Node, facts: Facts) -> bool:
    """Whether arithmetic with another value gives what is stretched its shape, and the dtype that it had."""
    lengths, shaped = extents(due), spec_of_tree(other, facts)
    if not lengths or extents(shaped) != lengths:
        return False
    return not of_model or spec_of_tree(narrow, facts).dtype <= shaped.dtype


def keepdims_elimination(program: Program, facts: Facts) -> Program:
    """Leave out `keepdims` of a sum whose only element along the axis is read.

    >>> import numpy as np, srcgrad
    >>> def scaled(k, s):
    ...     return np.sum(np.sin(k) * s[:, None])
    >>> print(srcgrad.source(scaled, wrt="s", like=(np.ones((2, 3)), np.ones(2))).splitlines()[-2])
        s_bar = (y_bar * np.sin(k)).sum(axis=1)
    """
    for node in statements(program.backward):
        for whole in [whole for part in header(node) for whole in find_nodes(part, gast.Subscript)]:
            if isinstance(whole.ctx, gast.Load) and _is_taken_off(whole):
                call = whole.value
                call.keywords = [word for word in call.keywords if word.arg != "keepdims"]
                _become(node, whole, call)
    return program


def _is_taken_off(whole: Node) -> bool:
    """Whether a subscript takes off the axis that the sum below it has kept, and nothing else."""
    call = whole.value
    if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Attribute) or call.func.attr != "sum":
        return False
    words = {word.arg: word.value for word in call.keywords}
    if call.args or set(words) != {"axis", "keepdims"} or getattr(words["keepdims"], "value", None) is not True:
        return False
    along = words["axis"].elts if isinstance(words["axis"], gast.Tuple) else [words["axis"]]
    axes = [getattr(axis, "value", None) for axis in along]
    parts = whole.slice.elts if isinstance(whole.slice, gast.Tuple) else [whole.slice]
    known = all(type(axis) is int and 0 <= axis < len(parts) for axis in axes)
    return known and all(_is_zero(part) if place in axes else _is_full(part) for place, part in enumerate(parts))


def _is_zero(part: Node) -> bool:
    return isinstance(part, gast.Constant) and type(part.value) is int and part.value == 0


def _is_full(part: Node) -> bool:
    return isinstance(part, gast.Slice) and part.lower is part.upper is part.step is None


def _become(node: Node, old: Node, new: Node) -> None:
    for item in walk(node):
        for key in item._fields:
            part = getattr(item, key, None)
            if part is old:
                setattr(item, key, new)
            elif isinstance(part, list):
                setattr(item, key, [new if each is old else each for each in part])
