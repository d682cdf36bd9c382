"""Where a derivative is needed at all: an adjoint where its value depends on an argument, a tangent where it is taken.

Elsewhere the adjoint is left out further up: `p_bar = if_larger(0.5 * g / r, p, 0.0)` drops what the root of a clamped
value gives where p is negative, and `r` must not be 0 there, for `g / 0.0` warns.

`np.where(x > 0.0, np.sqrt(x), 0.0)` drops the tangent of the root where x is 0, and `0.5 * x_dot / t` warns there.
So what divides is masked, as reverse mode masks it: `0.5 * x_dot / np.where(x > 0.0, t, 1.0)`.
"""

from __future__ import annotations

import operator
from collections import Counter
from dataclasses import dataclass, field

import gast
import numpy as np

from srcgrad.analysis.activity import differentiable_parameters
from srcgrad.core.facts import Facts, Operation, copy_with_facts
from srcgrad.core.rules import adjoint_template, rule_of
from srcgrad.core.trees import (
    BLOCKS,
    COMPOUND,
    Block,
    Node,
    as_value,
    at,
    find_nodes,
    header,
    loads,
    name,
    statements,
    stores,
    walk,
    written_names,
)
from srcgrad.core.visitor import rewrite_statements
from srcgrad.derive.instantiate_rules import Lines, Setting, instantiate, square_operation
from srcgrad.derive.mask_arrivals import read_at
from srcgrad.derive.masks import Mask, StatementMasks
from srcgrad.derive.regularity import is_computed, is_taken_apart, leaves_out, object_of
from srcgrad.derive.tangent_masks import (
    begins,
    is_kept,
    is_singular,
    mask_terms,
    move_support,
    tangents_to_follow,
)


def bind_needed_masks(function: Node, facts: Facts) -> None:
    """Bind masks of values beside these, of those that meet a factor which may not be finite.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(p):\\n    return np.sum(np.sqrt(np.maximum(p, 0.0)))"
    >>> lines = explain_text(text, after="forward_substitution").splitlines()
    >>> [line.strip() for line in lines if "np.where" in line]
    ['t3_bar = 0.5 * y_bar / np.where(p >= 0.0, np.sqrt(np.maximum(p, 0.0)), 1.0)']
    """
    facts.idioms.sought = tangents_to_follow(function, facts, may_warn)
    if facts.idioms.sought:
        function.body = rewrite_statements(function.body, lambda node: [node, *_mask_statements(node, facts)])


_LOGARITHMS = (np.log, np.log2, np.log10, np.log1p)  # infinite where their derivatives are


def may_warn(node: Node, facts: Facts) -> bool:
    """Whether a derivative divides by zero where the function does not: that of a root, not that of a logarithm."""
    operation = facts.operation_of(node)
    if operation is None or operation.rule is None or operation.rule.op in _LOGARITHMS:
        return False
    powers = [one.value for one in operation.bound.values() if isinstance(one, gast.Constant)]
    whole = any(isinstance(one, int) and one > 0 for one in powers)
    return is_singular(node, facts) and not (operation.rule.op is np.power and whole)


def _mask_statements(node: Node, facts: Facts) -> Block:
    """The statements that bind the mask of what a statement binds."""
    if not isinstance(node, gast.Assign) or written_names(node):
        return []
    operation = facts.resolution.operation.get(node.value)
    bound = stores(node)
    if len(bound) != 1 or bound[0] not in facts.idioms.sought or operation is None or operation.rule is None:
        return []
    operation = square_operation(operation, facts)
    rule = operation.rule
    if rule is None:
        return []
    shared: Block = []
    if rule.kind != "constant":
        _note_mask(node, operation, shared, facts)
    mask = facts.idioms.supports.get(bound[0])
    return [] if mask is None else _of(mask, shared, node, facts)


def _note_mask(node: Node, operation: Operation, shared: Block, facts: Facts) -> None:
    """Note where the tangent of what a statement binds may be nonzero, with the statements that it takes."""
    assert operation.rule is not None, "an op has a rule"
    taken = differentiable_parameters(operation.rule)
    operands = {p: one for p, one in operation.bound.items() if p in taken and isinstance(one, gast.Name)}
    active = [parameter for parameter, one in operands.items() if one.id in facts.activity.active]
    if active and operation.rule.kind == "elementwise":
        found = [_line(node, operation, parameter, facts) for parameter in active]
        mask_terms(node, found, facts)
        shared += [each for lines, _, _ in found for each in lines.shared]
    elif active and operation.rule.kind == "linear":
        move_support(node, operation, active, facts, shared)


def _line(node: Node, operation: Operation, parameter: str, facts: Facts) -> tuple[Lines, str, str]:
    """What the rule of an operation says of the tangent of one operand, the operand, and the name of its tangent."""
    assert operation.rule is not None, "an op has a rule"
    template = adjoint_template(operation.rule)
    assert template is not None, "an elementwise rule has a template"
    operand = operation.bound[parameter]
    tangent = name(f"tangent of {operand.id}")  # in no text
    if operand in facts.values.spec:
        facts.values.spec[tangent] = facts.values.spec[operand]
    setting = Setting(template, operation, facts, stores(node)[0], facts.values.spec[node], {template.result: tangent})
    return instantiate(setting, frozenset([parameter])), operand.id, tangent.id


def _of(mask: Mask, shared: Block, node: Node, facts: Facts) -> Block:
    """Of the statements of a tangent those that a mask is made of, as statements of the function."""
    wanted = {mask.held}
    made: Block = []
    for each in reversed(shared):
        bound = stores(each)
        if wanted.isdisjoint(bound) or any(" " in read for read in loads(each)):
            continue
        wanted.update(loads(each))
        made.insert(0, at(each, node))
        facts.origin.user[each] = facts.origin.user.get(node, node)
        facts.activity.definition[bound[0]] = each
        facts.origin.foreign.update({part: None for part in walk(each) if isinstance(part, gast.Compare)})
    return made


_FEW = 4  # pieces of an array of which each is named


def needed_tangents(function: Node, facts: Facts) -> None:
    """Note where the tangents are needed that meet a factor which may not be finite.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(x):\\n    return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))"
    >>> print(explain_text(text, after="forward_substitution", mode="forward").splitlines()[-3])
    t2_dot = np.where(x > 0.0, 0.5 * x_dot / np.where(x > 0.0, t3, 1.0), 0.0)
    """
    if not facts.idioms.doubts or facts.values.complex:
        return
    everything = statements(function.body)
    read = Counter(one for node in everything for part in header(node) for one in loads(part))
    for block in [function.body, *(getattr(node, one, None) for node in everything for one in BLOCKS)]:
        if block and any(may_warn(node, facts) for node in block):
            _Needs(block, read, facts).note()


@dataclass
class _Needs:
    """The statements of one block, and where what they bind is needed."""

    block: Block
    read: Counter[str]
    facts: Facts
    users: dict[str, Block] = field(default_factory=dict)  # name -> the statements that read it
    place: dict[str, int] = field(default_factory=dict)  # name -> where the block binds it
    found: dict[str, Mask] = field(default_factory=dict)
    made: dict[str, Node] = field(default_factory=dict)  # names of masks -> the statements that bind them

    def note(self) -> None:
        """Note the masks of the block's statements, and what each is made of."""
        held = Counter[str]()
        for place, node in enumerate(self.block):
            for one in loads(node) if not isinstance(node, COMPOUND) else ():
                held[one] += 1
                self.users.setdefault(one, []).append(node)
            for one in [one for each in statements([node]) for one in stores(each)]:
                self.place[one] = len(self.block) if isinstance(node, COMPOUND) else place
        inner = [one for one in self.users if held[one] == self.read[one]]
        wanted = self._wanted(dict.fromkeys(inner))
        for place in range(len(self.block) - 1, -1, -1):
            node = self.block[place]
            bound = stores(node)
            if len(bound) == 1 and bound[0] in wanted:
                mask = self._needed(bound[0], node)
                if mask is not None:
                    self.found[bound[0]] = mask
        for place, node in enumerate(self.block):
            if may_warn(node, self.facts) and stores(node)[0] in self.found:
                self._place(place, node)

    def _wanted(self, inner: dict[str, None]) -> dict[str, None]:
        """Names from whose tangents something is left out for sure, and that go on from one that may warn."""
        some: dict[str, bool] = {}
        for node in reversed(self.block):
            for one in stores(node):
                usable = one in inner and one in self.facts.activity.active and is_kept(one, self.facts)
                some[one] = usable and all(self._leaves_out(user, one, some) for user in self.users[one])
        found: dict[str, None] = {}
        for node in self.block:
            bound = stores(node)
            begun = may_warn(node, self.facts) or any(one in found for one in loads(node))
            if bound and some.get(bound[0]) and begun:
                found[bound[0]] = None
        return found

    def _leaves_out(self, node: Node, read: str, some: dict[str, bool]) -> bool:
        """Whether a statement leaves out some of what it reads, or what it goes into does."""
        operation, facts = _operation(node, self.facts), self.facts
        if self._is_plain(node, read):
            return True  # conditions, lengths
        if operation is None or operation.rule is None or len(stores(node)) != 1 or written_names(node):
            return False
        spots = [p for p, a in operation.bound.items() if isinstance(a, gast.AST) and read in loads(a)]
        active = [p for p in spots if p in differentiable_parameters(operation.rule)]
        later = some.get(stores(node)[0], False)
        if any(not isinstance(operation.bound[p], gast.Name) for p in active):
            return False
        if operation.function is operator.getitem:
            return later or self._reads_some(read, operation.bound["index"])
        if operation.rule.kind == "elementwise":
            return later or all(begins(operation, p, facts) for p in active)
        zeros = operation.rule.zeros
        return operation.rule.kind == "linear" and (zeros == "made" or (bool(zeros) and later))

    def _reads_some(self, array: str, index: Node) -> bool:
        """Whether an array is read in a few pieces that leave some of it out."""
        pieces = [one.bound["index"] for user in self.users[array] if (one := _operation(user, self.facts)) is not None
                  and one.function is operator.getitem]  # fmt: skip
        few = len(pieces) <= _FEW
        return few and leaves_out(index) and not is_taken_apart(pieces) and not any(is_computed(one) for one in pieces)

    def _needed(self, one: str, node: Node) -> Mask | None:
        """Where the tangent of a name is needed: where one of those is that read it."""
        masking = StatementMasks(self.facts, node, {}, ahead=True)
        masks = [self._through(user, one) for user in self.users[one] if not self._is_plain(user, one)]
        mask = masking.union_of_masks(masks) if masks else None
        self._keep(masking)
        return mask

    def _is_plain(self, node: Node, read: str) -> bool:
        """Whether a statement reads the value of a name alone, and no tangent of it."""
        facts, value = self.facts, getattr(node, "value", None)
        if not isinstance(node, gast.Assign) or written_names(node):
            return False
        if not any(one in facts.activity.active for one in stores(node)):
            return True
        if isinstance(value, gast.Name | gast.Tuple | gast.List | gast.Dict) or value in facts.calls.pulled:
            return False
        operation = _operation(node, facts)
        if operation is None or operation.rule is None or operation.rule.kind == "constant":
            return True
        taken = differentiable_parameters(operation.rule)
        return not any(p in taken and read in loads(a) for p, a in operation.bound.items() if isinstance(a, gast.AST))

    def _through(self, node: Node, read: str) -> Mask | None:
        """Where the tangent of what a statement reads is needed for that of what it binds."""
        operation, facts, bound = _operation(node, self.facts), self.facts, stores(node)[0]
        assert operation is not None, "what leaves something out is an operation"
        assert operation.rule is not None, "an op has a rule"
        later = self.found.get(bound)
        operands = {p: a for p, a in operation.bound.items() if getattr(a, "id", "") == read}
        wanted = [p for p in operands if p in differentiable_parameters(operation.rule)]
        operand = operands[wanted[0]]
        if operation.function is operator.getitem:
            masking = StatementMasks(facts, node, {}, ahead=True)
            index = operation.bound["index"]
            made = None
            if later is not None or leaves_out(index):
                made = read_at(operand, as_value(copy_with_facts(index, facts)), later, masking)
            self._keep(masking)
            return made
        template = adjoint_template(operation.rule)
        assert template is not None, "what leaves something out has a template"
        given = name(f"adjoint of {bound}")  # in no text
        facts.values.spec[given] = facts.values.spec[node]
        setting = Setting(template, operation, facts, bound, facts.values.spec[node], {template.result: given})
        lines = instantiate(setting, frozenset(wanted))
        masking = StatementMasks(facts, node, {given.id: later}, ahead=True)
        _, found = masking.lines(lines.shared, [line.value for line in lines.lines])
        masks = [mask for _, mask in found]
        if operation.rule.kind == "elementwise":
            like = copy_with_facts(operand, facts)
            masks = [mask and masking.fit_mask(mask, like, facts.values.spec.get(operand)) for mask in masks]
        made = masking.union_of_masks(masks) if masks else None
        self._keep(masking)
        return made

    def _keep(self, masking: StatementMasks) -> None:
        self.made.update({stores(node)[0]: node for node in masking.made})

    def _place(self, place: int, node: Node) -> None:
        """Note the mask of a statement, if it can be made beside it, and the statements that it takes."""
        facts, end = self.facts, place  # behind it stand the statements that the same statement of the user was
        user = facts.origin.user.get(node, node)
        while end + 1 < len(self.block) and self._goes_with(self.block[end + 1], user):
            end += 1
        mask = self.found[stores(node)[0]]
        taken: dict[str, None] = {}
        todo = [mask.held]
        hoisted: Block = []
        while todo:
            one = todo.pop()
            if one in taken:
                continue
            taken[one] = None
            if one in self.made:
                todo += loads(self.made[one])
            elif one in self.place and self.place[one] > end:
                if not self._is_hoisted(one):
                    return
                hoisted.append(self.block[self.place[one]])
                todo += loads(hoisted[-1])
            elif any(
                one in table
                for table in (facts.activity.rebound, facts.memory.mutable, facts.memory.viewed, facts.memory.views)
            ):
                return
        order = [each for held, each in self.made.items() if held in taken]
        facts.idioms.needed[node] = mask, [*sorted(hoisted, key=self.block.index), *order]

    def _is_hoisted(self, one: str) -> bool:
        """Whether a name is a condition, or made of shapes, that may be made before its turn."""
        node = self.block[self.place[one]] if self.place[one] < len(self.block) else None
        if not isinstance(node, gast.Assign) or one in self.facts.activity.active or not is_kept(one, self.facts):
            return False
        called = StatementMasks(self.facts, node, {}).reading.called
        functions = [call.func for call in find_nodes(node.value, gast.Call)]
        return all(rule_of(called(one) or object_of(one, self.facts)) is not None for one in functions)

    def _goes_with(self, node: Node, user: Node) -> bool:
        facts = self.facts
        if isinstance(node, COMPOUND) or not isinstance(node, gast.Assign) or written_names(node):
            return False
        return facts.origin.user.get(node, node) is user and node.value not in facts.calls.pulled and all(
            is_kept(one, facts) for one in stores(node)
        )  # fmt: skip


def _operation(node: Node, facts: Facts) -> Operation | None:
    operation = facts.operation_of(node)
    return None if operation is None or operation.rule is None else square_operation(operation, facts)
