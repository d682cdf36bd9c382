"""Forward mode's masks: where a tangent is zero by structure, and meets what may not be finite.

Tangents that are zero by structure somewhere, and are multiplied further on by what may not be finite.

Where a tangent is zero by structure: forward mode's masks, docs/decisions/masks.md.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import field

import gast
import numpy as np

from srcgrad.analysis.activity import differentiable_parameters
from srcgrad.core.facts import RESULT, Facts, Operation, PullbackForm, Spec, copy_with_facts
from srcgrad.core.identity import record, replace
from srcgrad.core.rules import Rule, adjoint_template, derivative_of, rule_of, tangent_template
from srcgrad.core.trees import (
    BLOCKS,
    COMPOUND,
    Block,
    Node,
    assign,
    expression,
    find_nodes,
    is_basic,
    is_write,
    loads,
    name,
    parameters,
    part_written,
    statements,
    stores,
    written_names,
)
from srcgrad.core.visitor import rebuild
from srcgrad.derive.in_place_writes import is_whole
from srcgrad.derive.instantiate_rules import Lines, Setting, chosen_assignments, square_operation
from srcgrad.derive.masks import Mask, StatementMasks
from srcgrad.derive.regularity import has_finite_lines, meaning, meets_doubt

NONE, SOME, MANY, ALL = range(4)  # of a tangent's elements are zero by structure: none, some only, perhaps all, all


Read = dict[Node, dict[str, None]]


def zeros(function: Node, facts: Facts) -> tuple[dict[str, None], dict[Node, int], Read]:
    """Names whose tangents bring zeros to a doubtful factor, and how many zeros each statement makes."""
    flow = _flow(function, facts, supports_taken(facts))
    order = statements(function.body)
    made: dict[str, Block] = {}
    for node in order:
        for bound in stores(node):
            made.setdefault(bound, []).append(node)
    meets = [node for node in order if is_singular(node, facts) or _meets_in_call(node, facts)]
    todo = [one for node in meets for one in flow.read.get(node, ())]
    if facts.request.handed.gives_masks and facts.pushes_forward:
        todo += [one for one in loads(function.body[-1]) if flow.state.get(one, NONE)]
    found: dict[str, None] = {}
    while todo:
        one = todo.pop()
        if one in found:
            continue
        found[one] = None
        for node in made.get(one, ()):
            if flow.made.get(node, MANY):
                todo += [*flow.read.get(node, ()), *(bound for bound in stores(node) if bound in facts.activity.active)]
    return found, flow.made, flow.read


def _flow(function: Node, facts: Facts, zeroed: Iterable[str]) -> _Flow:
    """How many zeros the tangents of a function have, if those of some parameters have some."""
    given = [p for p in parameters(function) if p in facts.activity.active and p not in facts.request.wrt]
    flow = _Flow(facts, {**dict.fromkeys(given, ALL), **dict.fromkeys(zeroed, MANY)})  # of the given none has a tangent
    flow.block(function.body)
    return flow


def supports_taken(facts: Facts) -> list[str]:
    """Parameters that come with supports of their tangents."""
    handed, wrt = facts.request.handed, facts.request.wrt
    return [wrt[place] for place in handed.takes_masks] if facts.pushes_forward else []


def _note_outcome(function: Node, facts: Facts) -> None:
    """Note what zeros a function begins, what it makes of those of its arguments, and whether they count in it."""
    own, flow = _flow(function, facts, ()), _flow(function, facts, facts.request.wrt)
    order = statements(function.body)
    meets = any(flow.read.get(node) and (is_singular(node, facts) or _meets_in_call(node, facts)) for node in order)
    begun, kept = (_of_several([one.operand(name(held)) for held in loads(function.body[-1])]) for one in (own, flow))
    facts.idioms.outcome = begun, kept, meets


def _outcome_of_call(call: Node | None, facts: Facts) -> tuple[int, int, bool]:
    """What is known of the function that a call of a derivative calls; nothing of one that calls itself."""
    if call not in facts.calls.derived or facts.module.leading.axis:
        return NONE, NONE, False
    outcome: tuple[int, int, bool] = facts.module.making[facts.calls.derived[call][0]].idioms.outcome
    return outcome


def _meets_in_call(node: Node, facts: Facts) -> bool:
    """Whether zeros of a tangent meet a factor that may not be finite in what a statement calls."""
    return _outcome_of_call(getattr(node, "value", None), facts)[2]


def is_singular(node: Node, facts: Facts) -> bool:
    """Whether a derivative may be inf where operands and result are numbers: that of a root, but of no quotient."""
    operation = facts.operation_of(node)
    rule = None if operation is None or written_names(node) else operation.rule
    if operation is None or rule is None or rule.kind != "elementwise" or rule.op in (np.divide, np.reciprocal):
        return False
    return not has_finite_lines(operation, facts, {}, True)


@record
class _Flow:
    """How many elements of each tangent are zero by structure, statement by statement."""

    facts: Facts
    state: dict[str, int] = field(default_factory=dict)
    made: dict[Node, int] = field(default_factory=dict)
    read: dict[Node, dict[str, None]] = field(default_factory=dict)  # names of which some element is

    def block(self, block: Block) -> None:
        for node in block:
            if isinstance(node, gast.If):
                before = dict(self.state)
                self.block(node.body)
                taken, self.state = self.state, before
                self.block(node.orelse)
                self._join(taken)
            elif isinstance(node, gast.For | gast.While):
                self._loop(node)
            elif isinstance(node, gast.With):
                self.block(node.body)
            elif not isinstance(node, COMPOUND):
                self._statement(node)

    def _join(self, other: dict[str, int]) -> None:
        self.state.update({one: max(value, self.state.get(one, value)) for one, value in other.items()})

    def _loop(self, node: Node) -> None:
        """What is so behind some trip is so before the next; behind the loop, what is so behind a trip.

        What the first trip finds as a constant, and each trip makes anew, is no constant: `s = 0.0`, `s = s + x[i]`.
        """
        noted = {**self.made}, {one: {**read} for one, read in self.read.items()}
        while True:
            before = dict(self.state)
            if isinstance(node, gast.For):
                of = min(self.operand(node.iter) * MANY, MANY)
                self.state.update(dict.fromkeys((b for b in stores(node) if b in self.facts.activity.active), of))
                self._note(node, of)
            for each in BLOCKS:
                self.block(getattr(node, each, None) or [])
            after = dict(self.state)
            begun = [one for one, value in before.items() if value == ALL and not after[one]]
            if begun:
                self.state = {**before, **dict.fromkeys(begun, NONE)}
                self.made, self.read = {**noted[0]}, {one: {**read} for one, read in noted[1].items()}
                continue
            self._join(before)
            if self.state == before:
                self.state = after
                return

    def _note(self, node: Node, value: int) -> None:
        read = [one for one in loads(node) if one in self.facts.activity.active and self.state.get(one)]
        self.read.setdefault(node, {}).update(dict.fromkeys(read))
        self.made[node] = max(value, self.made.get(node, NONE))

    def _statement(self, node: Node) -> None:
        bound = [one for one in stores(node) if one in self.facts.activity.active]
        if not isinstance(node, gast.Assign | gast.AugAssign | gast.Expr) or not bound:
            return
        held = self.state.get((written_names(node) or [""])[0], NONE)
        if not written_names(node):
            value = self._value(node)
        elif is_write(node):
            value = self._write(node, held)
        else:  # h_stack.append(h), h = h_stack.pop()
            value = max([held, *map(self.operand, node.value.args[-1:])])
        self._note(node, value)
        self.state.update(dict.fromkeys(bound, value))

    def _write(self, node: Node, old: int) -> int:
        part, new = part_written(node), self.operand(node.value)
        index = part.slice
        if isinstance(node, gast.AugAssign):
            new = min(old, new)
        if is_whole(index) and isinstance(part.value, gast.Name):
            return new
        if old == new or self.facts.list_kind(written_names(node)[0]):
            return max(old, new)
        return SOME if min(old, new) == NONE and is_basic(index, frozenset(self.facts.values.integers)) else MANY

    def operand(self, tree: Node) -> int:
        """How many zeros the tangent of an operand has."""
        if isinstance(tree, gast.Name):
            return self.state.get(tree.id, NONE) if tree.id in self.facts.activity.active else ALL
        if not isinstance(tree, gast.Tuple | gast.List | gast.Dict):
            return ALL
        return _of_several([self.operand(part) for part in (tree.values if isinstance(tree, gast.Dict) else tree.elts)])

    def _value(self, node: Node) -> int:
        facts, value = self.facts, node.value
        if value in facts.calls.pulled:
            begun, kept, _ = _outcome_of_call(value, facts)
            return max(begun, kept) if any(map(self.operand, facts.calls.pulled[value])) else begun
        operation = facts.resolution.operation.get(value)
        if isinstance(value, gast.Name | gast.Tuple | gast.List | gast.Dict):
            found = self.operand(value)
            return found and max(MANY, found) if isinstance(node.targets[0], gast.Tuple) else found
        if operation is None or operation.rule is None:
            return ALL
        operation = square_operation(operation, facts)
        rule = operation.rule
        assert rule is not None, "an op has a rule"
        given = {p: a for p, a in operation.bound.items() if p in differentiable_parameters(rule)}
        active = [p for p, a in given.items() if any(one in facts.activity.active for one in loads(a))]
        if rule.kind == "elementwise":
            old = [self.operand(given[p]) for p in active]
            new = [max(MANY * begins(operation, p, facts), one) for p, one in zip(active, old, strict=True)]
            sides = len(active) > 1 and not any(old)  # of two sides the one or the other
            return NONE if sides else min(new, default=ALL)
        if _is_linear(rule):
            least = self._zeros_of_linear(node, operation, given)
        else:
            least = min((self.operand(one) for p in active for one in _names(given[p], facts)), default=ALL)
        if operation.function is operator.getitem:
            return least and max(MANY, least)
        if least == SOME and facts.values.spec.get(node, Spec(ndim=None)).scalar:
            return NONE
        return max(least, SOME) if rule.zeros == "made" else least

    def _zeros_of_linear(self, node: Node, operation: Operation, given: dict[str, Node]) -> int:
        """Of a linear operation, whose elements come from the one or the other of what it is given."""
        assert operation.rule is not None, "an op has a rule"
        template, spec = adjoint_template(operation.rule), self.facts.values.spec
        parts = [self.operand(tree) for tree in given.values()]
        if template is not None:
            others = [one for p, one in template.defaults.items() if p not in given and p in template.differentiable]
            parts += [ALL for one in others if type(getattr(one, "value", None)) in (int, float)]
        found = _of_several(parts)
        items = [one for tree in given.values() for one in getattr(tree, "elts", [tree])]
        shapes = [spec[one].shape for one in (node, *items) if one in spec]
        chosen = len(shapes) > 2 and shapes[0] and shapes[0] in shapes[1:]
        return MANY if found == SOME and chosen else found


def _of_several(parts: list[int]) -> int:
    if NONE in parts:
        return max(parts) and SOME
    return max(parts, default=NONE) if len(set(parts)) < 2 else MANY


def _is_linear(rule: Rule) -> bool:
    """Whether a tangent is made of tangents alone: `d[z] = np.array(d[object])`."""
    template = tangent_template(rule) if rule.kind == "general" else None
    if template is None:
        return rule.kind == "linear"
    lines = [line.value for part in template.body for line in find_nodes(part, gast.Assign)]
    own = [derivative_of(one) for line in lines for one in find_nodes(line, gast.Subscript)]
    read = [one for line in lines for one in loads(line) if one in differentiable_parameters(rule)]
    return len(read) == len([one for one in own if one in read])


def _names(tree: Node, facts: Facts) -> list[Node]:
    """The active names of an operand."""
    return [one for one in find_nodes(tree, gast.Name) if one.id in facts.activity.active]


def begins(operation: Operation, parameter: str, facts: Facts) -> bool:
    """Whether the line of a parameter selects, `np.where(c, d[z], 0.0)`, or puts zeros among what it is given."""
    assert operation.rule is not None, "an op has a rule"
    template = adjoint_template(operation.rule)
    assert template is not None, "an elementwise or linear rule has a template"
    chosen = chosen_assignments(template.body, Setting(template, operation, facts, "", Spec(ndim=None), {}))
    tests = {line.targets[0].id for line in chosen if isinstance(line.value, gast.Compare)}
    for line in chosen:
        if derivative_of(line.targets[0]) == parameter:
            products = [one for one in find_nodes(line.value, gast.BinOp) if isinstance(one.op, gast.Mult)]
            if any(getattr(one.right, "id", "") in tests for one in products):
                return True  # `d[y] * ties`
            for call in find_nodes(line.value, gast.Call):
                rule = rule_of(meaning(call.func, template.namespace))
                carried = [
                    part for part in call.args if any(derivative_of(one) for one in find_nodes(part, gast.Subscript))
                ]
                if rule is not None and carried and (rule.selects or rule.zeros == "made"):
                    return True
    return False


def tangents_to_follow(
    function: Node, facts: Facts, meets: Callable[[Node, Facts], bool] = meets_doubt
) -> dict[str, None]:
    """Names whose tangents go on to where they meet a factor that may not be finite."""
    found: dict[str, None] = {}
    if not facts.idioms.doubts or facts.values.complex:
        return found
    order = [node for node in statements(function.body) if isinstance(node, gast.Assign) and not written_names(node)]
    doubtful = {node: meets(node, facts) for node in order}
    known = -1
    while known != len(found):
        known = len(found)
        for node in reversed(order):
            if doubtful[node] or any(one in found for one in stores(node)):
                found.update(dict.fromkeys(one for one in loads(node) if one in facts.activity.active))
    return found


def supports(function: Node, facts: Facts) -> None:
    """Note whose tangents have masks, and whose have a support that is changed as they are."""
    facts.idioms.sought = tangents_to_follow(function, facts)
    if facts.values.complex:
        return
    if facts.request.called:
        _note_outcome(function, facts)
    for one in supports_taken(facts):
        facts.idioms.supported[one] = facts.names.fresh(f"{one}_support")
        facts.calls.mask_seeds += (facts.idioms.supported[one],)
    facts.names.seeds += facts.calls.mask_seeds
    called = any(_meets_in_call(node, facts) for node in statements(function.body))
    if not (facts.idioms.doubts or called or facts.request.handed.gives_masks):
        return
    wanted, facts.idioms.zeroed, read = zeros(function, facts)
    facts.idioms.sought.update(wanted)
    rows = [node.iter for node in statements(function.body) if isinstance(node, gast.For) and node in read]
    walked = [getattr(each, "id", "") for each in rows]  # `for row in m`: the support goes along
    for one in [one for one in wanted if one not in facts.idioms.supported]:
        if one in walked or not (is_kept(one, facts) and _has_mask(facts.activity.definition[one], read, facts)):
            held = facts.names.fresh(
                f"t{len(facts.names.temporaries) + 1}" if one in facts.names.temporaries else f"{one}_support"
            )
            facts.idioms.supported[one] = held
            if one in facts.names.temporaries:
                facts.names.temporaries[held] = "t"


def _has_mask(node: Node, read: dict[Node, dict[str, None]], facts: Facts) -> bool:
    """Whether the mask of what a statement binds is made of those of its operands."""
    operation = facts.operation_of(node)
    rule = None if operation is None else operation.rule
    if operation is None or rule is None or rule.kind not in ("elementwise", "linear"):
        return False
    if operation.function is dict.get:
        return False  # it may give None, which has no mask
    trees = [a for a in operation.bound.values() if isinstance(a, gast.AST)]
    given = [a for a in trees if any(one in facts.activity.active for one in loads(a))]
    return rule.kind == "elementwise" or all(getattr(a, "id", "") in read.get(node, ()) for a in given)


def _mask_of(one: str, masking: StatementMasks) -> Mask | None:
    """The mask of a tangent, which its support gives where it has one."""
    facts = masking.facts
    if one not in facts.idioms.supported:
        return facts.idioms.supports.get(one)
    numpy = facts.library("np")
    mask = masking.bound(expression(f"{numpy}.isnan(s)", s=name(facts.idioms.supported[one])), True)
    spec = facts.values.value_spec.get(one)
    return mask if spec is None else replace(mask, spec=spec)


def full_support(one: str, spec: Spec | None, facts: Facts, new: bool = False) -> Node:
    """The support of a tangent that may be nonzero everywhere."""
    numpy = facts.library("np")
    if spec is not None and spec.scalar:
        return expression(f"{numpy}.nan")
    if one in facts.kinds.containers:
        return expression(f"{facts.library('nan_like')}(x)", x=one)
    made = expression(f"{numpy}.nan * x", x=one)
    if new:
        facts.resolution.results[made.right] = None
    return made


def _nans(true: Node, facts: Facts) -> Node:
    """nan where a mask is true; compiled, that of a number is a number."""
    numpy = facts.library("np")
    if facts.module is not None and facts.module.target.typed:
        return expression(f"{facts.library('if_larger')}({numpy}.nan, m, 0.5)", m=true)
    return expression(f"{numpy}.where(m, {numpy}.nan, 0.0)", m=true)


def support_beside(node: Node, facts: Facts, again: Callable[[Callable[[str, Facts], str]], Block]) -> Block:
    """What a statement makes of supports: what it makes of tangents, given nan wherever those may be nonzero."""
    bound = [one for one in stores(node) if one in facts.idioms.supported]
    if not bound:
        return []
    display = isinstance(getattr(node, "value", None), gast.Tuple | gast.List | gast.Dict)
    taken = written_names(node)[:1] if isinstance(node, gast.Assign) and not is_write(node) else []
    unknown = bool(taken) and taken[0] not in facts.idioms.supported  # popped from a stack that has no supports
    if unknown or (
        not written_names(node)
        and isinstance(node, gast.Assign)
        and not display
        and not facts.idioms.zeroed.get(node, NONE)
    ):
        return [
            assign(facts.idioms.supported[one], full_support(one, facts.values.value_spec.get(one), facts, True))
            for one in bound
        ]
    operation = facts.operation_of(node)
    rule = None if operation is None or written_names(node) else operation.rule
    if rule is not None and rule.kind == "elementwise":
        masking, mask = StatementMasks(facts, node, {}), facts.idioms.supports.pop(bound[0], None)
        value = (
            full_support(bound[0], facts.values.spec.get(node), facts, True)
            if mask is None
            else _nans(masking.whole(mask), facts)
        )
        return [*masking.made, assign(facts.idioms.supported[bound[0]], value)]
    before: Block = []

    def support_of_name(one: str, facts: Facts) -> str:
        return _bound_support(one, node, facts, before)

    made = again(support_of_name)
    return [*before, *made]


def _bound_support(one: str, node: Node, facts: Facts, before: Block) -> str:
    """A name for the support of a tangent, with the statement that it takes."""
    if one in facts.idioms.supported:
        return facts.idioms.supported[one]
    masking = StatementMasks(facts, node, {})
    mask, spec = facts.idioms.supports.get(one), facts.values.value_spec.get(one)
    value = full_support(one, spec, facts)
    if mask is not None:
        value = _nans(masking.true_where_taken(masking.fit_mask(mask, name(one), spec)), facts)
    made = masking.bound(value).held
    before.extend(masking.made)
    return made


def call_with_supports(node: Node, bound: str, facts: Facts) -> tuple[Block, Block]:
    """Let a call take the supports of its tangents and give that of its result; what stands before and behind it."""
    call, held = node.value, facts.idioms.supported.get(bound, "")
    operands = [operand.id for operand in facts.calls.pulled[call]]
    known = [k for k, one in enumerate(operands) if one in facts.idioms.supported or one in facts.idioms.supports]
    before: Block = []
    plain, kinds = facts.calls.derived.get(call, ("", {}))
    if plain and ((known and _meets_in_call(node, facts)) or (held and facts.idioms.zeroed.get(node, NONE))):
        handed = PullbackForm(True, tuple(known), (RESULT,) if held else ())
        function = facts.resolution.operation[call].function
        made = facts.module.masked(plain, function, kinds, facts, handed)
        inner = facts.module.making[made]
        call.func, taken = name(made), inner.request.handed.takes_masks if made != plain else ()
        for keyword, place in zip(inner.calls.mask_seeds, taken, strict=False):
            call.keywords.append(gast.keyword(keyword, name(_bound_support(operands[place], node, facts, before))))
        if made != plain and inner.request.handed.gives_masks:
            node.targets[0].elts.append(name(held, gast.Store()))
            return before, []
    spec = facts.values.value_spec.get(bound)
    return before, [assign(held, full_support(bound, spec, facts, True))] if held else []


def support_given(value: Node, node: Node, facts: Facts, before: Block) -> Node:
    """The support of the tangent of a result, for who calls; what gives one says so."""
    if isinstance(value, gast.Tuple):
        return gast.Tuple([support_given(one, node, facts, before) for one in value.elts], gast.Load())
    if value.id not in facts.activity.active:
        return expression(f"{facts.library('zeros_like')}(y)", y=value.id)
    if value.id in facts.idioms.supported or value.id in facts.idioms.supports:
        facts.calls.zeroing[RESULT] = None
    return name(_bound_support(value.id, node, facts, before))


def is_kept(one: str, facts: Facts) -> bool:
    """Whether a name is bound once, to what nothing changes."""
    changing = (
        facts.activity.rebound,
        facts.memory.mutable,
        facts.memory.viewed,
        facts.memory.views,
        facts.kinds.containers,
    )
    return one in facts.activity.definition and not any(one in table for table in changing)


def _note(node: Node, mask: Mask | None, facts: Facts) -> None:
    bound = stores(node)
    if mask is not None and len(bound) == 1 and bound[0] in facts.idioms.sought and is_kept(bound[0], facts):
        facts.idioms.supports[bound[0]] = mask


def mask_terms(node: Node, made: list[tuple[Lines, str, str]], facts: Facts) -> None:
    """Mask the factors of the lines of a statement's tangent, and note where that may be nonzero.

    Each part has its operand, and the name of that one's tangent.
    """
    if not made:
        return
    given = StatementMasks(facts, node, {})
    carried = {held: _mask_of(operand, given) for _, operand, held in made}
    made[0][0].shared[:0] = given.made
    wanted = any(one in facts.idioms.sought for one in stores(node)[:1])
    tests: list[tuple[Node, Mask]] = []
    needed, before = facts.idioms.needed.pop(node, (None, []))
    if not wanted and not any(carried.values()) and needed is None:
        return
    found: list[Mask | None] = []
    for lines, _, _ in made:
        masking = StatementMasks(facts, node, dict(carried), needed, ahead=True)
        values = [line.value for line in lines.lines]
        lines.shared, terms = masking.lines(lines.shared, values, [needed] * len(values))
        lines.lines = [replace(line, value=value) for line, (value, _) in zip(lines.lines, terms, strict=True)]
        found += [mask for _, mask in terms]
        tests += masking.tests
    _bind_needed(needed, before, made, facts)
    if wanted and found and all(mask is not None for mask in found):
        masking = StatementMasks(facts, node, {}, ahead=True)
        mask = masking.union_of_masks(found)
        if stores(node)[0] in facts.idioms.supported and mask is not None:
            facts.idioms.supports[stores(node)[0]] = mask
        else:
            _note(node, mask and replace(mask, tests=tuple(tests)), facts)
        made[-1][0].shared += masking.made


def _bind_needed(needed: Mask | None, before: Block, made: list[tuple[Lines, str, str]], facts: Facts) -> None:
    """Bind where a tangent is needed before its lines, if these read it."""
    trees = [each for lines, _, _ in made for each in (*lines.shared, *(line.value for line in lines.lines))]
    if needed is not None and any(needed.held in loads(tree) for tree in trees):
        made[0][0].shared[:0] = [each for each in before if each not in facts.tape.tangents]
        facts.tape.tangents.update(dict.fromkeys(before))


def move_support(
    node: Node,
    operation: Operation,
    active: list[str],
    facts: Facts,
    shared: Block,
) -> None:
    """Note where the tangent of a linear operation may be nonzero: where nan goes from what may be."""
    if stores(node)[0] not in facts.idioms.sought or stores(node)[0] in facts.idioms.supported:
        return
    masking = StatementMasks(facts, node, {}, ahead=True)
    numpy = facts.library("np")
    swap: dict[Node, Node] = {}
    for one in (each for parameter in active for each in _names(operation.bound[parameter], facts)):
        held = one.id
        mask = facts.idioms.supports.get(held)
        if held in facts.idioms.supported:
            swap[one] = name(facts.idioms.supported[held])
        elif mask is None:
            return
        else:
            true = masking.true_where_taken(masking.fit_mask(mask, name(held), facts.values.value_spec.get(held)))
            swap[one] = expression(f"{numpy}.where(m, {numpy}.nan, 0.0)", m=true)
    reached = masking.bound(expression(f"{numpy}.isnan(e)", e=exchange_parts(node.value, swap, facts)), True)
    _note(node, reached if node not in facts.values.spec else replace(reached, spec=facts.values.spec[node]), facts)
    shared += masking.made


def exchange_parts(value: Node, swap: dict[Node, Node], facts: Facts) -> Node:
    """A copy of an expression with some of its parts exchanged."""
    return rebuild(
        value, lambda part: swap.get(part) or (copy_with_facts(part, facts) if type(part) is gast.Name else None)
    )
