"""Broadcasting: what it does anyway is not written, and what is read for its shape alone is not computed or kept.

`e[None] * x` is `e * x`, and `np.broadcast_to(e, np.shape(x)) + g` is `e + g`, where x and g have one shape.
`e.sum(axis=1, keepdims=True)[:, 0]` is `e.sum(axis=1)`.

Of what is read for its shape alone a part is read that has the shape, or another value that is needed anyway; what a
loop keeps for it need not be kept where no trip changes the shape. Zeros that mirror zeros mirror what those do.

    v_bar = sum_to(a_bar[1:-1], u[2:] - 2.0 * u[1:-1])  =>  v_bar = sum_to(a_bar[1:-1], u[2:])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import field

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.activity import differentiable_parameters
from srcgrad.analysis.array_regions import canonical_spec, extents
from srcgrad.analysis.dtypes import is_elementwise
from srcgrad.analysis.shapes import spec_of_tree
from srcgrad.core.facts import UNKNOWN, Facts, Spec, function_called
from srcgrad.core.identity import record
from srcgrad.core.rules import FITTED, rule_of
from srcgrad.core.trees import (
    COMPOUND,
    NOTHING,
    SIMPLE,
    Block,
    Node,
    children,
    copy,
    find_nodes,
    header,
    holds,
    is_basic,
    is_write,
    loads,
    root,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.core.visitor import Uses, bindings, count, loop_bodies, replace, rewrite_blocks
from srcgrad.derive.in_place_writes import is_push
from srcgrad.derive.program import Program, rebuilt
from srcgrad.frontend.resolve import binding_of


def unbroadcast_elimination(program: Program, facts: Facts) -> Program:
    """Give `sum_to` and `fit_to` an operand in place of arithmetic; what only that has read goes.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(q, k):\\n    r = np.sin(q)\\n    return np.sum(k * (1.0 - np.cos(r)))"
    >>> explain_text(text, after="unbroadcast_elimination", wrt=("q",)).splitlines()[-2]
    'q_bar = --fit_to(y_bar * k, r) * np.sin(r) * np.cos(q)'

    Leave out leading axes of length 1, and the stretching of what is added to a value of the stretched shape.

    >>> import numpy as np, srcgrad
    >>> def shares(x):
    ...     return np.sum(np.log(np.sum(np.exp(x), axis=0)))
    >>> slope = srcgrad.value_and_grad(shares)
    >>> _ = slope(np.ones((2, 3)))
    >>> print(slope.source.splitlines()[-2])
        x_bar = y_bar / t * exp_x
    """
    _read_operands_for_shapes(program, facts)
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
        found, (word,) = binding_of(value.func, facts, facts.names.local), value.keywords
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
        if node in facts.tape.accumulates and (found := _stretched_contribution(node, made, last, facts)) is not None:
            made.remove(found[0])
            facts.tape.accumulates.pop(node)
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
    found, due = _stretch(first.value, facts), facts.values.spec.get(first)
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


def without_kept_axes(node: Node) -> None:
    """Leave out `keepdims` of a sum whose only element along the axis is read.

    >>> import numpy as np, srcgrad
    >>> def scaled(k, s):
    ...     return np.sum(np.sin(k) * s[:, None])
    >>> print(srcgrad.source(scaled, wrt="s", like=(np.ones((2, 3)), np.ones(2))).splitlines()[-2])
        s_bar = (y_bar * np.sin(k)).sum(axis=1)
    """
    for whole in [whole for part in header(node) for whole in find_nodes(part, gast.Subscript)]:
        if isinstance(whole.ctx, gast.Load) and _is_taken_off(whole):
            call = whole.value
            call.keywords = [word for word in call.keywords if word.arg != "keepdims"]
            replace(node, whole, call)


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


_ATTRIBUTES = ("shape", "ndim", "size", "dtype")


def outline(node: Node, facts: Facts) -> Node | None:
    """The part of an attribute or a call that is looked at for its shape, and its dtype, alone."""
    kind = type(node)
    if kind is not gast.Call:
        return node.value if kind is gast.Attribute and node.attr in _ATTRIBUTES else None
    rule = rule_of(function_called(node, facts))
    return rule.argument(node, rule.outline) if rule is not None and rule.outline else None


def is_fitted(call: Node, facts: Facts) -> bool:
    """Whether an expression is `sum_to(g, x)` or `fit_to(g, x)`."""
    if type(call) is not gast.Call or len(call.args) != 2 or call.keywords:
        return False
    return function_called(call, facts) in FITTED


def indices(node: Node) -> list[Node]:
    """What decides on the shape of a value beside the shapes of what it is made of: a mask that looks it up, a call."""
    if isinstance(node, gast.Name | gast.Constant):
        return []
    if isinstance(node, gast.Attribute):
        return indices(node.value)
    if isinstance(node, gast.Subscript):
        return [*indices(node.value), node.slice]
    if isinstance(node, gast.BinOp):
        return [*indices(node.left), *indices(node.right)]
    if isinstance(node, gast.UnaryOp):
        return indices(node.operand)
    return [node]


def elements(node: Node, facts: Facts) -> list[Node]:
    """The names that an expression reads for their elements, not for their shape alone."""
    if type(node) in SIMPLE:
        return [node] if type(node) is gast.Name and type(node.ctx) is not gast.Store else []
    shaped = outline(node, facts)
    parts = [part for part in children(node) if part is not shaped]
    return [
        name for part in (*parts, *(indices(shaped) if shaped is not None else ())) for name in elements(part, facts)
    ]


def names_of_elements(nodes: Block, facts: Facts) -> set[str]:
    """The names of which something reads elements that are wanted themselves: not those that give a shape alone."""
    found = {
        read.id for node in nodes if target(node) for part in indices(node.value) for read in elements(part, facts)
    }
    todo = nodes
    while now := {node: None for node in todo if matters(node, found)}:
        found.update(read.id for node in now for part in header(node) for read in elements(part, facts))
        todo = [node for node in todo if node not in now]
    return found


def matters(node: Node, needed: set[str]) -> bool:
    """Whether a statement does more than to bind a name that is not wanted."""
    return target(node) is None or target(node) in needed


def _leave_last_shapes(program: Program, facts: Facts) -> None:
    """Leave a value that the backward half reads for its shape alone where the last trip of the loop left it."""
    restores = {n: str(target(n)) for n in statements(program.backward) if n in facts.tape.restores and not is_write(n)}
    if not restores:
        return
    backward = [*statements(program.backward), program.result]
    needed = names_of_elements(backward, facts)
    made = Counter(name for node in backward for name in _names_bound(node))
    text = text_of(program, facts)
    alone = {name for name in restores.values() if name not in needed and made[name] == 1}
    alone = {name for name in alone if text.is_steady(gast.Name(name, gast.Load(), None, None))}
    if alone:
        program.backward = rebuilt(program.backward, {n: None for n in backward if restores.get(n) not in alone})
        facts.activity.left_over = True


@record(frozen=True)
class Text:
    """Of a forward half: names that are bound outside of loops alone, and statements of those bound in one place."""

    settled: frozenset[str]
    once: dict[str, Node]
    facts: Facts
    known: dict[str, bool] = field(default_factory=dict)  # of names that were asked for

    def is_steady(self, value: Node) -> bool:
        """Whether a value has one shape and one dtype each time it is computed."""
        if isinstance(value, gast.Name):
            if value.id in self.settled:
                return True
            if value.id not in self.known:
                self.known[value.id] = False  # what is computed of itself is not known to be
                node = self.once.get(value.id)
                self.known[value.id] = node is not None and self.is_steady(node.value)
            return self.known[value.id]
        if isinstance(value, gast.Call):
            return self._is_steady_call(value)
        if isinstance(value, gast.Subscript):
            return self.is_steady(value.value) and self._is_steady_index(value)
        if isinstance(value, gast.BinOp | gast.UnaryOp):
            return all(self.is_steady(part) for part in children(value) if isinstance(part, gast.expr))
        return isinstance(value, gast.Constant)

    def _is_steady_call(self, call: Node) -> bool:
        operation = self.facts.resolution.operation.get(call)
        rule = None if operation is None else operation.rule
        if operation is None or rule is None:
            return False
        if rule.kind != "elementwise" and not rule.shape:
            return False
        through = differentiable_parameters(rule)
        return all(
            self.is_steady(given) if name in through else _is_literal(given) for name, given in operation.bound.items()
        )

    def _is_steady_index(self, part: Node) -> bool:
        """Whether an index takes a part of one shape: slices between literals, integers of what is an array."""
        places = part.slice.elts if isinstance(part.slice, gast.Tuple) else [part.slice]
        sliced = [place for place in places if isinstance(place, gast.Slice)]
        fixed = all(_is_literal(bound) for place in sliced for bound in children(place))
        whole = len(sliced) == len(places) or (
            isinstance(part.value, gast.Name) and part.value.id in self.facts.memory.mutable
        )
        return fixed and whole and is_basic(part.slice, frozenset(self.facts.values.integers))


def text_of(program: Program, facts: Facts) -> Text:
    """What is known of the names of a forward half."""
    nodes = list(statements(program.forward))
    loops = [node for node in nodes if isinstance(node, gast.For | gast.While)]
    inside = {name for loop in loops for node in statements([loop]) for name in _names_bound(node)}
    made = Counter([*program.parameters, *(name for node in nodes for name in _names_bound(node))])
    lists = {name for node in nodes for name in written_names(node) if not _is_array(name, program, facts)}
    free = {read for node in nodes for read in loads(node)} | set(program.parameters)
    settled = frozenset(name for name in free - inside - lists if made[name] < 2)
    once = {str(target(node)): node for node in nodes if target(node) and made[str(target(node))] == 1}
    return Text(settled, {name: node for name, node in once.items() if name not in lists}, facts)


def _names_bound(node: Node) -> list[str]:
    """The names that a statement binds: not those of what it writes into."""
    changed = written_names(node)
    return [name for name in stores(node) if name not in changed]


def _is_array(name: str, program: Program, facts: Facts) -> bool:
    """Whether a name that is written into holds one array from beginning to end."""
    if name not in facts.memory.mutable or name in facts.memory.swapped or name in facts.kinds.containers:
        return False
    return name not in program.parameters or facts.kinds.of_names.get(name, UNKNOWN).tag == "array"


def _is_literal(node: Node) -> bool:
    if isinstance(node, gast.UnaryOp):
        return _is_literal(node.operand)
    if isinstance(node, gast.Tuple):
        return all(_is_literal(item) for item in node.elts)
    return isinstance(node, gast.Constant)


def tangent_shapes(program: Program, facts: Facts) -> Program:
    """Take the shape of an adjoint's tangent from what the adjoint mirrors, in the derivative of a gradient.

    >>> import numpy as np, srcgrad
    >>> print(srcgrad.source(lambda x, c: np.sum(x**3), "hvp", wrt=("x", "c")).splitlines()[-1])
        return x_bar_dot, zeros_like(c)
    """
    if not facts.pushes_forward or facts.module is None or facts.module.leading.axis:
        return program
    uses, whole = count(program.block), program.forward
    program.forward = rewrite_blocks(
        whole, lambda block: _without_mirrored_zeros(block, [program.result] if block is whole else [], uses, facts)
    )
    return program


def _without_mirrored_zeros(block: Block, result: Block, uses: Uses, facts: Facts) -> Block:
    """A block in which zeros mirror no zeros that nothing else reads, but what those mirror."""
    gone: dict[Node, None] = {}
    for position, node in enumerate(block):
        held, value = target(node), node.value if target(node) else NOTHING
        for call in [call for part in header(node) for call in find_nodes(part, gast.Call)]:
            if function_called(call, facts) is runtime.zeros_like and _are_zeros(call.args[0], facts):
                call.func, call.args = call.args[0].func, call.args[0].args
        if held is None or uses.bound[held] != 1 or not _are_zeros(value, facts):
            continue
        found, changed = [], {held, *loads(value)}
        for later in [*block[position + 1 :], *result]:
            for one in statements([later]):
                found += [
                    call for part in header(one) for call in find_nodes(part, gast.Call) if _mirrors(call, held, facts)
                ]
            if not changed.isdisjoint(stores(later)):
                break
        if len(found) == uses.read[held]:
            gone[node] = None
            for call in found:
                call.func, call.args = copy(value.func), [copy(value.args[0])]
    return [node for node in block if node not in gone]


def _are_zeros(value: Node, facts: Facts) -> bool:
    """Whether a value is `zeros_like(x)`, of ours or of NumPy's."""
    if not isinstance(value, gast.Call) or len(value.args) != 1 or value.keywords:
        return False
    return function_called(value, facts) in (np.zeros_like, runtime.zeros_like)


def _mirrors(call: Node, held: str, facts: Facts) -> bool:
    """Whether a call is our `zeros_like` of a name."""
    return function_called(call, facts) is runtime.zeros_like and getattr(call.args[0], "id", "") == held


def _read_operands_for_shapes(program: Program, facts: Facts) -> None:
    changed = False
    checked = _arguments_made_arrays(program, facts)
    for node in statements(program.backward):
        for call in [call for part in header(node) for call in walk(part)]:
            if is_fitted(call, facts) and isinstance(call.args[1], gast.BinOp | gast.UnaryOp | gast.Call):
                found = _operand(call.args[1], checked, facts)
                if found is not None:
                    call.args[1], changed = found, True
            elif _asks_shape_alone(call, facts) and (found := _operand_of_same_shape(call.args[0], facts)) is not None:
                call.args[0], changed = found, True
    changed |= _check_seed_of_operands(program, facts)
    while (facts.module is None or not facts.module.leading.axis) and _without_sums_between(program, facts):
        changed = True
    facts.activity.left_over |= _read_names_for_shapes(program, checked, facts) or changed


def _read_names_for_shapes(program: Program, checked: Collection[str], facts: Facts) -> bool:
    """Read the shape of a name in place of one that is computed from it for its shape alone; whether there was one.

    >>> import numpy as np, srcgrad
    >>> text = srcgrad.source(lambda x, y: 3.0 * (x * y) ** 2, wrt="x")
    >>> "** 2" in text.partition("# line")[0]
    False
    """
    nodes = [*statements(program.block), program.result]
    calls = [n for node in nodes for part in header(node) for n in find_nodes(part, gast.Call) if n.args]
    places = [call.args[1] for call in calls if is_fitted(call, facts)]
    seeds = [one for call in calls if function_called(call, facts) is runtime.check_seed for one in call.args[1:]]
    places += seeds
    shaped: dict[str, list[Node]] = {}
    for place in places:
        if isinstance(place, gast.Name) and place.id in facts.names.temporaries:
            shaped.setdefault(place.id, []).append(place)
    if not shaped:
        return False
    uses, changed = count([*program.block, program.result]), False
    made = {held: node.value for node in nodes if (held := target(node)) in shaped and uses.bound[held] == 1}
    for held, value in made.items():
        found = _operand(value, checked, facts) if len(shaped[held]) == uses.read[held] else None
        if any(one in seeds for one in shaped[held]) and getattr(found, "id", "") not in _shaped_operands(value, facts):
            continue  # `abs(z)` of a complex z is real
        if isinstance(found, gast.Name) and uses.bound.get(found.id, 0) == (found.id not in program.parameters):
            changed = True
            for place in shaped[held]:
                place.id = found.id
    return changed


def _check_seed_of_operands(program: Program, facts: Facts) -> bool:
    """Let `check_seed` look at what the output is made of, where nothing else reads the output; whether it does.

    >>> import srcgrad
    >>> [line.strip() for line in srcgrad.source(lambda x, y: x * y).splitlines() if "check_seed(" in line]
    ['check_seed(result_bar, x, y)']
    """
    for node in program.backward[:2]:
        call = node.value if isinstance(node, gast.Expr) else None
        if not isinstance(call, gast.Call) or function_called(call, facts) is not runtime.check_seed:
            continue
        uses = count([*program.block, program.result])
        made = {str(target(one)): k for k, one in enumerate(program.forward) if target(one)}
        parts: dict[str, Node] = {}
        gone: dict[Node, None] = {}
        todo = call.args[1:]
        for part in todo:
            held, own = getattr(part, "id", ""), {gast.unparse(part): part}
            if held not in made:
                own = _shaped_operands(part, facts) or own
            elif uses.used_once(held):
                place = made[held]
                anew = {one for later in statements(program.forward[place + 1 :]) for one in stores(later)}
                found = _shaped_operands(program.forward[place].value, facts)
                if found and anew.isdisjoint(loads(program.forward[place].value)):
                    own, gone = found, gone | {program.forward[place]: None}
            parts |= {key: one for key, one in own.items() if one is part}
            todo += [one for one in own.values() if one is not part]
        changed = [*parts] != [gast.unparse(part) for part in call.args[1:]]
        call.args[1:] = map(copy, parts.values())
        program.forward = [one for one in program.forward if one not in gone]
        return changed
    return False


def _shaped_operands(whole: Node, facts: Facts) -> dict[str, Node]:
    """The values whose shapes give arithmetic its shape, and which are complex where it is; none if others do."""
    if isinstance(whole, gast.Call) and len(whole.args) == 1 and not whole.keywords:
        function = function_called(whole, facts)
        if isinstance(function, np.ufunc) and "D->D" in function.types:
            return _shaped_operands(whole.args[0], facts)
    if not isinstance(whole, gast.BinOp | gast.UnaryOp):
        plain = isinstance(whole, gast.Name | gast.Subscript) and not holds(whole, gast.Call)
        return {gast.unparse(whole): whole} if plain else {}
    found: dict[str, Node] = {}
    for leaf in _leaves(whole):
        number = isinstance(leaf, gast.Constant) and not isinstance(leaf.value, complex)
        if not number and getattr(getattr(leaf, "value", None), "attr", "") != "shape":
            made = {} if leaf is whole else _shaped_operands(leaf, facts)  # `a @ b` is one leaf
            if not made:
                return {}
            found |= made
    return found


def _without_sums_between(program: Program, facts: Facts) -> bool:
    """Leave out `sum_to(g, a + b)` where what becomes of it is summed to the shape of a or of b; whether there was one.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(u, n, w):\\n  z = u.copy()\\n  for i in range(1, n):\\n    z[i] = u[i] + w * u[i - 1]\\n"
    >>> text = explain_text(text + "  return np.sum(z**2)", after="unbroadcast_elimination", wrt=("u",))
    >>> [line for line in text.splitlines() if "t1_bar =" in line]
    ['    t1_bar = z_bar[i].copy()']
    """
    nodes = [*statements(program.backward), program.result]
    calls = [[n for part in header(node) for n in find_nodes(part, gast.Call) if is_fitted(n, facts)] for node in nodes]
    uses = count([*program.backward, program.result])
    shapes = Counter(call.args[1].id for own in calls for call in own if isinstance(call.args[1], gast.Name))
    made = {str(target(node)): node.value for node in nodes if uses.bound.get(str(target(node))) == 1}
    every = bindings(program.block)
    for one in program.forward:
        if target(one) in facts.names.temporaries and one not in facts.tape.pushes:
            once = all(every[read] == (read not in program.parameters) for read in loads(one.value))
            made |= {str(target(one)): one.value} if once and every[str(target(one))] == 1 else {}
    made = {held: value for held, value in made.items() if 0 < shapes[held] == uses.read.get(held)}
    changed = False
    for position, node in enumerate(nodes):
        for call in calls[position]:
            parts = _arithmetic_operands(made.get(getattr(call.args[1], "id", ""), call.args[1]), facts)
            if function_called(call, facts) is not runtime.sum_to:
                continue  # `fit_to(g, a + b)` stretches what is narrower
            if not parts or not _may_stay_wide(call.args, parts, facts):
                continue
            last = position
            outer = [one for one in calls[position] if _is_multiple(one.args[0], call, parts)]
            held = target(node)
            if held and uses.bound[held] == 1 and _is_multiple(node.value, call, parts):
                found = [
                    (k, one) for k, own in enumerate(calls) for one in own if _is_multiple(one.args[0], held, parts)
                ]
                outer = [one for _, one in found]
                if len(outer) != uses.read[held] or found[0][0] < position:
                    continue
                last = found[-1][0]
            anew = {one for later in nodes[position : last + 1] for one in _names_bound(later)}
            fits = all(gast.unparse(one.args[1]) in parts for one in outer)
            if outer and fits and anew.isdisjoint(one for part in parts.values() for one in loads(part)):
                replace(node, call, call.args[0])
                changed = True
    return changed


def _arithmetic_operands(whole: Node, facts: Facts) -> dict[str, Node]:
    """The values, and parts of values, of which arithmetic is made; none where anything else is."""
    leaves = _leaves(whole) if isinstance(whole, gast.BinOp | gast.UnaryOp) else []
    found = {gast.unparse(part): part for part in leaves if not isinstance(part, gast.Constant)}
    roots = [None if holds(part, gast.Call) else root(part) for part in found.values()]
    return {} if any(held is None or held.id in facts.kinds.containers for held in roots) else found


def _leaves(value: Node) -> Block:
    """What sums, products, quotients and powers are made of, element by element."""
    if isinstance(value, gast.UnaryOp):
        return _leaves(value.operand)
    whole = not isinstance(value, gast.BinOp) or isinstance(value.op, gast.MatMult)
    return [value] if whole else [*_leaves(value.left), *_leaves(value.right)]


def _may_stay_wide(args: Block, parts: dict[str, Node], facts: Facts) -> bool:
    """Whether such a sum is most likely over nothing: of a number, or of parts with as many elements."""
    if spec_of_tree(args[1], facts).scalar:
        return False
    given = [part for part in find_nodes(args[0], gast.Subscript) if not holds(part.slice, gast.Slice)]
    sliced = any(holds(part, gast.Slice) or spec_of_tree(part, facts).ndim for part in parts.values())
    return sliced or bool(given) or all(isinstance(part, gast.Subscript) for part in parts.values())


def _is_multiple(value: Node, sought: Node | str, parts: dict[str, Node]) -> bool:
    """Whether a value is a product, or a quotient, of one value with some that have no other shape than these parts."""
    if value is sought or getattr(value, "id", None) == sought:
        return True
    if isinstance(value, gast.UnaryOp):
        return _is_multiple(value.operand, sought, parts)
    if not isinstance(value, gast.BinOp) or not isinstance(value.op, gast.Mult | gast.Div):
        return False
    one, two = _is_multiple(value.left, sought, parts), _is_multiple(value.right, sought, parts)
    factor = value.right if one else value.left
    known = (isinstance(part, gast.Constant) or gast.unparse(part) in parts for part in _leaves(factor))
    return one != two and (one or isinstance(value.op, gast.Mult)) and all(known)


def _asks_shape_alone(call: Node, facts: Facts) -> bool:
    """Whether a call tells how many elements or axes an array has, whatever its dtype: `count(a)`, `np.shape(a)`."""
    rule = rule_of(function_called(call, facts)) if isinstance(call, gast.Call) and call.args else None
    return rule is not None and rule.outline != "" and not rule.shape and outline(call, facts) is call.args[0]


def _operand_of_same_shape(value: Node, facts: Facts) -> Node | None:
    """The x of `np.log(x)`, of `-x` and of `2.0 * x`, which have its shape; not of `2 * x`: a list may be meant."""
    inner = None
    if isinstance(value, gast.Call) and len(value.args) == 1 and not value.keywords and is_elementwise(value, facts):
        inner = value.args[0]
    elif isinstance(value, gast.UnaryOp):
        inner = value.operand
    elif isinstance(value, gast.BinOp) and not isinstance(value.op, gast.MatMult):
        sides = (value.left, value.right)
        number = any(
            isinstance(side, gast.Constant) and (not isinstance(value.op, gast.Mult) or isinstance(side.value, float))
            for side in sides
        )
        inner = next((side for side in sides if not isinstance(side, gast.Constant)), None) if number else None
    if inner is None:
        return None
    return _operand_of_same_shape(inner, facts) or inner


def _arguments_made_arrays(program: Program, facts: Facts) -> dict[str, None]:
    """Arguments that NumPy makes arrays of, not for a shape alone: the text looks whether they are lists."""
    found: dict[str, None] = {}
    todo = [part for node in statements([*program.forward, *program.backward]) for part in header(node)]
    todo = [part for part in todo if holds(part, gast.Call)]
    while todo:
        node = todo.pop()
        fitted = is_fitted(node, facts)
        called = function_called(node, facts) if isinstance(node, gast.Call) else None
        if called is not None and not str(getattr(called, "__module__", "")).startswith("srcgrad."):
            found |= {one.id: None for one in node.args if isinstance(one, gast.Name) and one.id in facts.request.wrt}
        todo += node.args[:1] if fitted else children(node)
    return found


def _operand(whole: Node, checked: Collection[str], facts: Facts) -> Node | None:
    """A name, or a part of one, that has the shape and dtype of some arithmetic in which it stands; names first."""
    spec = spec_of_tree(whole, facts)
    found = [each for each in _operands(whole, checked, facts) if _is_alike(spec_of_tree(each, facts), spec)]
    return min(found, key=lambda each: isinstance(each, gast.Subscript), default=None)


def _operands(whole: Node, checked: Collection[str], facts: Facts) -> list[Node]:
    """Active values, and parts of them, from which arithmetic computes a value element by element."""
    if isinstance(whole, gast.BinOp) and not isinstance(whole.op, gast.MatMult):
        return [*_operands(whole.left, checked, facts), *_operands(whole.right, checked, facts)]
    if isinstance(whole, gast.UnaryOp):
        return _operands(whole.operand, checked, facts)
    if isinstance(whole, gast.Call):
        of_library = function_called(whole, facts) is not None
        given = [one for each in whole.args for one in _operands(each, checked, facts)] if of_library else []
        return [one for one in given if getattr(one, "id", "") in checked or not _may_be_list(one, facts)]
    held = root(whole) if isinstance(whole, gast.Name | gast.Subscript) else None
    own = "" if held is None else facts.tape.again.get(held.id, held.id)
    return [whole] if own in facts.activity.active and own not in facts.kinds.containers else []


def _may_be_list(operand: Node, facts: Facts) -> bool:
    """Whether an operand is an argument of an unknown kind: a list, of which NumPy's functions make an array."""
    return (
        isinstance(operand, gast.Name)
        and operand.id in facts.request.wrt
        and facts.kinds.of_names.get(operand.id, UNKNOWN).tag == "unknown"
    )


def _is_alike(one: Spec, two: Spec) -> bool:
    return (canonical_spec(one).shape, one.dtype, one.ndim) == (canonical_spec(two).shape, two.dtype, two.ndim)


_Place = tuple[int, Node]  # where in a block something is read for its shape


def shape_only_operands(program: Program, facts: Facts) -> Program:
    """Give `sum_to` and `fit_to` a value that the trip has brought back anyway, or that the last trip has left.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(h, w):\\n  s = 0.0\\n  for v in w:\\n    e = np.exp(h * v)\\n    s = s / 2 + v * (h + e)"
    >>> text += "\\n  return s"
    >>> [line for line in explain_text(text, after="shape_only_operands", wrt=("h",)).splitlines() if "v, e)" in line]
    ['    t4_bar = sum_to(t3_bar * v, e)']
    >>> text = "def f(c, n):\\n  a = np.ones(4)\\n  for k in range(n):\\n    a[1:] += 2 * np.diff(a)\\n    a[0] += c\\n"
    >>> "t2_stack" in explain_text(text + "  return np.sum(a)", after="shape_only_operands", wrt=("c",))
    False
    """
    backward, trips = loop_bodies(program.backward), Trips(loop_bodies(program.forward), facts)
    uses = count([*program.backward, program.result] if backward else [])
    changed = False
    for block in backward:
        shaped: dict[str, list[_Place]] = {}
        for position, node in enumerate(block):
            for call in [call for part in header(node) for call in find_nodes(part, gast.Call)]:
                if _is_shaped(call, facts):
                    shaped.setdefault(call.args[1].id, []).append((position, call.args[1]))
        for position in reversed(range(len(block))):  # what is computed for its shape alone reads shapes alone
            bound = target(block[position]) if _is_arithmetic(block[position]) else None
            if bound in shaped and len(shaped[bound]) == uses.read[bound] and uses.bound.get(bound) == 1:
                for one in find_nodes(block[position].value, gast.Name):
                    shaped.setdefault(one.id, []).append((position, one))
        ahead = _reads_before_loop(block, program) if shaped else Counter[str]()
        while any(_replace_shape_operand(held, block, shaped, uses, ahead, trips, facts) for held in list(shaped)):
            changed = True
        block[:] = [node for node in block if node is not None]
    outlines = _outlines(program, facts)
    times = bindings(program.block) if outlines else {}
    made = {str(target(node)): node for node in program.forward if target(node)} if outlines else {}
    for held, places in outlines.items():
        found = _name_of_same_shape(held, made, times, facts)
        for place in places if found else ():
            place.id, changed = found, True
    facts.activity.left_over |= changed
    _leave_last_shapes(program, facts)
    return program


def _outlines(program: Program, facts: Facts) -> dict[str, list[Node]]:
    """Temporaries of at most one use in their own half, of which the backward half reads the shape alone."""
    if not any(helper in facts.names.imports for helper in ("sum_to", "fit_to", "np")):
        return {}
    made = {target(node) for node in program.forward if node not in facts.tape.pushes}
    found: dict[str, list[Node]] = {}
    for call in [
        n for node in statements(program.backward) for part in header(node) for n in find_nodes(part, gast.Call)
    ]:
        read = _read_for_shape(call, facts)
        if read is not None and read.id in made and read.id in facts.names.temporaries:
            found.setdefault(read.id, []).append(read)
    if not found:
        return {}
    own, uses = count(program.forward), count([*program.backward, program.result])
    found = {one: reads for one, reads in found.items() if own.bound[one] == 1}
    alone = {one: reads for one, reads in found.items() if len(reads) == uses.read[one] and own.read.get(one, 0) < 2}
    return {one: reads for one, reads in alone.items() if not uses.bound.get(one)}


def _read_for_shape(call: Node, facts: Facts) -> Node | None:
    """The `x` of `sum_to(g, x)`, `fit_to(g, x)` and `np.shape(x)`."""
    if _is_shaped(call, facts):
        shaped: Node = call.args[1]
        return shaped
    if function_called(call, facts) is not np.shape or len(call.args) != 1 or not isinstance(call.args[0], gast.Name):
        return None
    return call.args[0]


def _name_of_same_shape(held: str, made: dict[str, Node], bound: dict[str, int], facts: Facts) -> str:
    """A name of the user's from which a value is computed, and which has its shape and dtype to the end of the text."""
    spec = _spec(held, facts)
    if spec is None or spec.scalar:
        return ""
    for one in _origins(held, made):
        changes = any(
            one in table
            for table in (facts.memory.mutable, facts.memory.viewed, facts.memory.swapped, facts.names.temporaries)
        )
        if changes or facts.values.value_spec.get(one) != spec or bound.get(one, 0) != (one in made):
            continue
        if spec.ndim is not None or (
            one in made and one in facts.activity.active
        ):  # an argument may be a list, or of integers
            return one
    return ""


def _origins(held: str, made: dict[str, Node]) -> Iterator[str]:
    """The names from which a value is computed, the nearest first."""
    seen, todo = {held}, [held]
    for one in todo:
        for read in loads(made[one]) if one in made else ():
            if read not in seen:
                seen.add(read)
                todo.append(read)
                yield read


def _is_arithmetic(node: Node) -> bool:
    """Whether a statement binds what sums, differences and products make of names and numbers."""
    value = node.value if isinstance(node, gast.Assign) else None
    return isinstance(value, gast.BinOp) and all(isinstance(part, _PLAIN) for part in walk(value))


_PLAIN = (gast.BinOp, gast.Add, gast.Sub, gast.Mult, gast.Name, gast.Load, gast.Constant)


def _is_shaped(call: Node, facts: Facts) -> bool:
    """Whether an expression is `sum_to(g, x)` or `fit_to(g, x)` of a name."""
    return is_fitted(call, facts) and isinstance(call.args[1], gast.Name)


def _replace_shape_operand(
    held: str,
    block: Block,
    shaped: dict[str, list[_Place]],
    uses: Uses,
    ahead: Counter[str],
    trips: Trips,
    facts: Facts,
) -> bool:
    """Let another value stand in for one that is read for its shape alone; whether there was one."""
    places, spec = shaped[held], _spec_in_trip(held, trips, facts)
    if not places or len(places) != uses.read[held] - ahead[held] or uses.bound.get(held) != 1 or spec is None:
        return False
    before = block[: min(position for position, _ in places)]
    back = any(node is not None and target(node) == held for node in before)
    if spec.scalar or (not back and (ahead[held] or _spec_at_trip_start(held, trips, facts) is not None)):
        return False  # what is read there is a value of another trip
    found = ""
    for node in before:
        other = None if node is None or node not in facts.tape.restores else target(node)
        if other in (None, held) or other in facts.memory.mutable or uses.bound[other] != 1:
            continue
        if not is_alike(str(other), held, trips, facts):
            continue
        alone = [place for place, _ in shaped.get(other, []) if not _is_arithmetic(block[place])]
        if uses.read.get(other, 0) - ahead[other] > len(alone):  # its elements are read as well
            found = str(other)
            break
        if (
            shaped.get(other) and _spec_at_trip_start(held, trips, facts) is not None
        ):  # one of two that are kept for their shapes
            found = found or str(other)
    if not found:
        return False
    for _, place in places:
        place.id = found
    shaped[found], shaped[held] = [*shaped.get(found, []), *places], []
    uses.read[found] += len(places)
    uses.read[held] -= len(places)
    for position, node in enumerate(block):
        if node is not None and target(node) == held and node not in facts.tape.restores:
            block[position] = NOTHING  # computed again for its shape
            for one in loads(node):
                uses.read[one] -= 1
                shaped[one] = [place for place in shaped.get(one, []) if place[0] != position]
    return True


def _reads_before_loop(block: Block, program: Program) -> Counter[str]:
    """How often names are read before the loop with this body: of values that were there before it."""
    place = next((k for k, node in enumerate(program.backward) if getattr(node, "body", None) is block), 0)
    return Counter(one for node in statements(program.backward[:place]) for one in loads(node))


def is_alike(found: str, held: str, trips: Trips, facts: Facts) -> bool:
    """Whether two values of a trip, of which the second is an array, have one shape and dtype."""
    spec = _spec_in_trip(held, trips, facts)
    if spec is None or spec.scalar:
        return False
    return _spec_in_trip(found, trips, facts) == spec or trips.is_operand(found, held)


def _spec_in_trip(held: str, trips: Trips, facts: Facts) -> Spec | None:
    """What is known of a value that the backward half of a trip reads."""
    return _spec_at_trip_start(held, trips, facts) or _spec(held, facts)


def _spec_at_trip_start(held: str, trips: Trips, facts: Facts) -> Spec | None:
    """What is known of a value that a trip begins with, where that is what it keeps before it binds the name anew."""
    if held not in trips.begun:
        trips.begun[held] = trips.spec_at_start(held)
    return trips.begun[held]


@record
class Trips:
    """The bodies of the loops of the forward half, as long as they do not change; each name is looked up once."""

    blocks: list[Block]
    facts: Facts
    begun: dict[str, Spec | None] = field(default_factory=dict)
    computed: dict[str, tuple[Node, dict[str, Node], set[str]] | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.kept: dict[str, list[tuple[Block, Node]]] = {}
        for trip in self.blocks:
            for node in trip:
                if node in self.facts.tape.pushes and is_push(node):
                    self.kept.setdefault(getattr(node.value.args[0], "id", ""), []).append((trip, node))

    def spec_at_start(self, held: str) -> Spec | None:
        """What is known of a value where it is read first, if one trip keeps it before binding its name."""
        kept = self.kept.get(held, [])
        found = [trip[: trip.index(node)] for trip, node in kept]
        if len(found) != 1 or any(held in stores(node) for node in statements(found[0])):
            return None
        known = self.facts.values.spec
        read = (n for node in statements(found[0]) for part in header(node) for n in walk(part))
        return next((known[n] for n in read if isinstance(n, gast.Name) and n.id == held and n in known), None)

    def is_operand(self, found: str, held: str) -> bool:
        """Whether a value has the shape and dtype of one from which it is computed, and which its trip begins with."""
        if held not in self.computed:
            self.computed[held] = self._computed(held)
        known = self.computed[held]
        if known is None or found in known[2]:
            return False
        made, own, _ = known
        spec, chain = self.facts.values.spec[made], {made: None}
        todo = [made]
        for node in todo:
            read = [n for n in walk(node.value) if isinstance(n, gast.Name)]
            if any(n.id == found and self.facts.values.spec.get(n) == spec for n in read):
                return True
            more = dict.fromkeys(own[one] for one in loads(node) if one in own and own[one] not in chain)
            chain.update(more)
            todo += more
        return False

    def _computed(self, held: str) -> tuple[Node, dict[str, Node], set[str]] | None:
        """What computes a value, and the temporaries and all names that its trip binds up to there."""
        facts = self.facts
        made = facts.activity.definition.get(facts.tape.again.get(held, held))
        trip = next((block for block in self.blocks if made in block), None)
        if made is None or trip is None or made not in facts.values.spec:
            return None
        before = trip[: trip.index(made) + 1]
        own = {str(target(node)): node for node in before if target(node) in facts.names.temporaries}
        return made, own, {one for node in statements(before) for one in stores(node)}


def _spec(held: str, facts: Facts) -> Spec | None:
    """What is known of a value that goes by its name alone."""
    own = facts.tape.again.get(held, held)
    return facts.values.value_spec.get(own) if own in facts.activity.definition else None
