"""Where a derivative is needed at all: an adjoint where its value depends on an argument, a tangent where it is taken.

Elsewhere the adjoint is left out further up: `p_bar = if_larger(0.5 * g / r, p, 0.0)` drops what the root of a clamped
value gives where p is negative, and `r` must not be 0 there, for `g / 0.0` warns.

`np.where(x > 0.0, np.sqrt(x), 0.0)` drops the tangent of the root where x is 0, and `0.5 * x_dot / t` warns there.
So what divides is masked, as reverse mode masks it: `0.5 * x_dot / np.where(x > 0.0, t, 1.0)`.
"""

from __future__ import annotations

import operator
from collections import Counter
from dataclasses import field

import gast
import numpy as np

from srcgrad.analysis.activity import differentiable_parameters
from srcgrad.core.facts import Facts, Operation, Spec, copy_with_facts, function_called
from srcgrad.core.identity import record, replace
from srcgrad.core.rules import adjoint_template, linear_arguments, rule_of
from srcgrad.core.trees import (
    BLOCKS,
    COMPOUND,
    Block,
    Node,
    as_value,
    at,
    find_nodes,
    header,
    is_write,
    literal_node,
    loads,
    name,
    part_written,
    same_tree,
    statements,
    stores,
    walk,
    written_names,
)
from srcgrad.core.visitor import rebuild, rewrite_statements
from srcgrad.derive.in_place_writes import is_whole
from srcgrad.derive.instantiate_rules import Lines, Setting, instantiate, square_operation
from srcgrad.derive.mask_arrivals import item_mask, mask_before_write, read_at
from srcgrad.derive.masks import Mask, StatementMasks
from srcgrad.derive.regularity import is_computed, is_taken_apart, leaves_out, meets_doubt, object_of
from srcgrad.derive.tangent_masks import (
    begins,
    is_kept,
    is_singular,
    mask_terms,
    move_support,
    tangents_to_follow,
)
from srcgrad.runtime import structure


def bind_needed_masks(function: Node, facts: Facts) -> None:
    """Bind masks of values beside these, of those that meet a factor which may not be finite.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(p):\\n    return np.sum(np.sqrt(np.maximum(p, 0.0)))"
    >>> lines = explain_text(text, after="forward_substitution").splitlines()
    >>> [line.strip() for line in lines if "np.where" in line]
    ['t3_bar = 0.5 * y_bar / np.where(p >= 0.0, np.sqrt(np.maximum(p, 0.0)), 1.0)']
    """
    facts.idioms.sought = tangents_to_follow(function, facts, _is_root)
    if facts.idioms.sought:
        function.body = rewrite_statements(function.body, lambda node: [node, *_mask_statements(node, facts)])


_LOGARITHMS = (np.log, np.log2, np.log10, np.log1p)  # infinite where their derivatives are


def may_warn(node: Node, facts: Facts) -> bool:
    """Whether a derivative divides by zero, or by what overflows."""
    return (
        _divides(node, facts) or _is_root(node, facts) or _is_of_infinite(node, facts) or is_length_again(node, facts)
    )


def is_length_again(node: Node, facts: Facts) -> bool:
    """Whether a statement of a derivative computes a length whose second derivative is asked for."""
    operation = facts.operation_of(node)
    return operation is not None and facts.source.is_derivative and getattr(operation.rule, "length", False)


def _is_of_infinite(node: Node, facts: Facts) -> bool:
    """Whether a statement binds the logarithm of what may be inf: its derivative is a quotient of two such."""
    operation = facts.operation_of(node)
    logarithm = operation is not None and operation.rule is not None and operation.rule.op in _LOGARITHMS
    return logarithm and not written_names(node) and any(one in facts.idioms.doubts for one in loads(node))


def _is_root(node: Node, facts: Facts) -> bool:
    """Whether a derivative divides by zero where the function does not: that of a root, not that of a logarithm."""
    operation = facts.operation_of(node)
    if operation is None or operation.rule is None or operation.rule.op in _LOGARITHMS:
        return False
    powers = [one.value for one in operation.bound.values() if isinstance(one, gast.Constant)]
    whole = any(isinstance(one, int) and one > 0 for one in powers)
    return is_singular(node, facts) and not (operation.rule.op is np.power and whole)


def _divides(node: Node, facts: Facts) -> bool:
    """Whether a statement binds a quotient whose divisor may be zero."""
    operation = facts.operation_of(node)
    quotient = operation is not None and operation.rule is not None and operation.rule.op in (np.divide, np.reciprocal)
    return quotient and not written_names(node) and meets_doubt(node, facts)


def _mask_statements(node: Node, facts: Facts) -> Block:
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
    given = {p: one for p, one in operation.bound.items() if p in taken and isinstance(one, gast.AST)}
    active = [p for p, one in given.items() if any(each in facts.activity.active for each in loads(one))]
    if active and operation.rule.kind == "elementwise":
        if not all(isinstance(given[parameter], gast.Name) for parameter in active):
            return  # the mask of a part is not known here
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
        facts.origin.foreign.update(dict.fromkeys(find_nodes(each, gast.Compare)))
    return made


_PRODUCTS = (np.multiply, np.divide, np.negative)  # zero where one of the arguments is in which they are linear
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
    written = frozenset(one for node in everything for one in written_names(node))
    for block in [function.body, *(getattr(node, one, None) for node in everything for one in BLOCKS)]:
        if block and any(may_warn(node, facts) for node in block):
            _Needs(block, read, facts, written).note()


@record
class _Needs:
    """The statements of one block, and where what they bind is needed."""

    block: Block
    read: Counter[str]
    facts: Facts
    written: frozenset[str]  # arrays and lists into which the function writes
    users: dict[str, Block] = field(default_factory=dict)  # name -> the statements that read it
    place: dict[str, int] = field(default_factory=dict)  # name -> where the block binds it
    inner: dict[str, None] = field(default_factory=dict)  # names that no other block reads
    live: dict[str, None] = field(default_factory=dict)  # names whose tangents are read further down
    arrived: dict[str, list[Mask | None]] = field(default_factory=dict)  # ... -> where its readers need it, last first
    made: dict[str, Node] = field(default_factory=dict)  # names of masks -> the statements that bind them
    made_at: dict[str, int] = field(default_factory=dict)  # ... -> which statement of the block they are read from
    at: int = 0  # which one is looked at
    zeros: dict[str, Mask | None] = field(default_factory=dict)  # values -> where they are not zero by structure

    def note(self) -> None:
        """Note the masks of the block's statements, and what each is made of."""
        held = Counter[str]()
        for place, node in enumerate(self.block):
            for each in statements([node]):
                for one in [one for part in header(each) for one in loads(part)]:
                    held[one] += 1
                    self.users.setdefault(one, []).append(each)
            for one in [one for each in statements([node]) for one in stores(each)]:
                self.place.setdefault(one, len(self.block) if isinstance(node, COMPOUND) else place)
        self.inner = dict.fromkeys(one for one in self.users if held[one] == self.read[one])
        wanted = self._wanted()
        found = {}
        for place, node in reversed([*enumerate(self.block)]):
            self.at = place
            if isinstance(node, COMPOUND):
                self._enter(node, wanted)
            else:
                found[node] = self._step(node, wanted)
        same = self._shorten_masks() if any(found.values()) else {}
        for place, node in enumerate(self.block):
            mask = found.get(node)
            if mask is not None and may_warn(node, self.facts):
                self._place(place, node, replace(mask, held=same.get(mask.held, mask.held)))
        later = self.facts.idioms.later
        for node in [one for one in self.block if one in later]:
            later[node] = later.pop(node)  # in the order of the text

    def _step(self, node: Node, wanted: dict[str, None]) -> Mask | None:
        """Where the tangent of what a statement binds is needed; what it reads is needed for that."""
        bound = stores(node)
        if bound and all(one in self.inner and one not in self.live and self._is_plain_name(one) for one in bound):
            return None  # nobody reads its tangent further down
        known = len(bound) == 1 and bound[0] in wanted
        mask = self._arrived_at(bound[0], node) if known else None
        if known and is_write(node):
            self._before_write(node, mask)
            if mask is not None and self._leaves_out_part(mask, part_written(node)):
                return None  # what is written is overwritten once more
        for one in dict.fromkeys(loads(node)):
            if one not in written_names(node) and not self._is_plain(node, one):
                self.live[one] = None
                if one in wanted:
                    self.arrived.setdefault(one, []).append(self._through(node, one, mask))
        return mask

    def _enter(self, node: Node, wanted: dict[str, None]) -> None:
        """What the statements of a branch or loop need, whether or not they are reached."""
        for each in reversed(statements([node])):
            for one in dict.fromkeys(one for part in header(each) for one in loads(part)):
                if not self._is_plain(each, one):
                    self.live[one] = None
                    if one in wanted:
                        self.arrived.setdefault(one, []).append(self._sliced(each, one))

    def _sliced(self, node: Node, read: str) -> Mask | None:
        """Of a statement that may not be reached: only a slice is of something whether or not it is."""
        operation = _operation(node, self.facts)
        index = operation.bound["index"] if operation is not None and operation.function is operator.getitem else None
        if index is None or not all(isinstance(part, gast.Slice) for part in getattr(index, "elts", [index])):
            return None
        return self._through(node, read, None)

    def _arrived_at(self, one: str, node: Node) -> Mask | None:
        """Where the tangent of a name is needed: where one of those is that read it further down."""
        masking = StatementMasks(self.facts, node, {}, ahead=True)
        mask = masking.union_of_masks(reversed(self.arrived.pop(one)))
        self._keep(masking)
        return mask

    def _before_write(self, node: Node, mask: Mask | None) -> None:
        """Note where that of an array is needed before some of its elements are overwritten, or added to."""
        part, array = part_written(node), written_names(node)[0]
        if isinstance(node, gast.AugAssign):
            self.arrived[array] = [mask]
        elif is_whole(part.slice):
            self.live.pop(array)
        else:
            masking = StatementMasks(self.facts, node, {}, ahead=True)
            index = as_value(copy_with_facts(part.slice, self.facts))
            self.arrived[array] = [mask_before_write(mask, copy_with_facts(part.value, self.facts), index, masking)]
            self._keep(masking)

    def _leaves_out_part(self, mask: Mask, part: Node) -> bool:
        """Whether a mask is `mask_without(m, x, index)`, of the part that is written."""
        node = self.made.get(mask.held) or self.facts.activity.definition.get(mask.held)
        call = getattr(node, "value", None)
        if not mask.taken or call is None or function_called(call, self.facts) is not structure.mask_without:
            return False
        index = as_value(copy_with_facts(part.slice, self.facts))
        return same_tree(self._spelled_out(call.args[2]), self._spelled_out(index))

    def _spelled_out(self, index: Node) -> Node:
        """An index with names of constants, `t = np.arange(4)`, spelled out."""
        return rebuild(index, lambda part: self._constant(part.id) if isinstance(part, gast.Name) else None)

    def _constant(self, one: str) -> Node | None:
        made = self.facts.activity.definition.get(one)
        if made is None or not self._can_be_read(one) or any(read in self.facts.names.local for read in loads(made)):
            return None
        value: Node = made.value
        return value

    def _wanted(self) -> dict[str, None]:
        """Names from whose tangents something is left out for sure, and that go on from one that may warn."""
        chosen, read = self._left_out(by_pieces=False), self._left_out(by_pieces=True)
        found: dict[str, None] = {}
        for node in self.block:
            bound = stores(node)
            some = chosen if _divides(node, self.facts) else read  # the function divides there itself
            begun = may_warn(node, self.facts) or any(one in found for one in loads(node))
            if bound and some.get(bound[0]) and begun:
                found[bound[0]] = None
        return found

    def _left_out(self, by_pieces: bool) -> dict[str, bool]:
        """Whether something is left out of the tangent of each name, also where pieces of it are read alone."""
        some: dict[str, bool] = {}
        for node in reversed(self.block):
            for one in stores(node):
                usable = one in self.inner and one in self.facts.activity.active and self._is_kept(one)
                some[one] = usable and (
                    self._is_overwritten(one)
                    or all(self._leaves_out(user, one, some, by_pieces) for user in self.users[one])
                )
        return some

    def _is_kept(self, one: str) -> bool:
        """Whether a name is bound once, to what nothing changes but writes of this block into its elements."""
        facts = self.facts
        if one not in facts.memory.mutable:
            return is_kept(one, facts)
        elsewhere = (facts.activity.rebound, facts.memory.viewed, facts.memory.views, facts.kinds.containers)
        writes = [node for node in self.block if one in written_names(node)]
        usual = all(is_write(node) and isinstance(part_written(node).value, gast.Name) for node in writes)
        return usual and one in self.place and self.place[one] < len(self.block) and not any(
            one in table for table in elsewhere
        )  # fmt: skip

    def _is_plain_name(self, one: str) -> bool:
        """Whether a name is bound once, and nothing is written through it; it may be a view."""
        facts = self.facts
        changing = (facts.activity.rebound, facts.memory.mutable, facts.kinds.containers)
        return self._is_kept(one) or (one in facts.activity.definition and not any(one in table for table in changing))

    def _is_overwritten(self, one: str) -> bool:
        """Whether the block overwrites elements of an array."""
        return any(isinstance(node, gast.Assign) and one in written_names(node) for node in self.users.get(one, ()))

    def _leaves_out(self, node: Node, read: str, some: dict[str, bool], by_pieces: bool) -> bool:
        """Whether a statement leaves out some of what it reads, or what it goes into does."""
        operation, facts = _operation(node, self.facts), self.facts
        if self._is_plain(node, read):
            return True  # conditions, lengths
        if len(stores(node)) != 1 or written_names(node) or not isinstance(node, gast.Assign):
            return False
        later = some.get(stores(node)[0], False)
        if isinstance(node.value, gast.Name):
            return later
        if operation is None or operation.rule is None:
            return False
        spots = [p for p, a in operation.bound.items() if isinstance(a, gast.AST) and read in loads(a)]
        active = [p for p in spots if p in differentiable_parameters(operation.rule)]
        if any(not isinstance(operation.bound[p], gast.Name | gast.List | gast.Tuple) for p in active):
            return False
        if operation.function is operator.getitem:
            return later or (by_pieces and self._reads_some(read, operation.bound["index"]))
        if operation.rule.own is not None or adjoint_template(operation.rule) is None:
            return False
        if operation.rule.op is np.multiply and any(map(self._zeros_of, operation.bound.values())):
            return True
        return later or operation.rule.zeros == "made" or all(begins(operation, p, facts) for p in active)

    def _zeros_of(self, factor: Node) -> Mask | None:
        """Where a value of a derivative is not zero by structure: an adjoint that was `np.where(c, g, 0.0)`."""
        one = getattr(factor, "id", "")
        if one not in self.zeros:
            self.zeros[one] = None
            self.zeros[one] = self._mask_of_value(one) if self.facts.source.is_derivative else None
        return self.zeros[one]

    def _mask_of_value(self, one: str) -> Mask | None:
        facts, node = self.facts, self.facts.activity.definition.get(one)
        if node is None or not is_kept(one, facts) or self.place.get(one, len(self.block)) == len(self.block):
            return None
        value, operation = node.value, _operation(node, facts)
        mask: Mask | None = None
        if isinstance(value, gast.Call) and object_of(value.func, facts) is np.where and len(value.args) == 3:
            test, _, other = value.args
            if getattr(other, "value", None) == 0.0 and isinstance(test, gast.Name) and is_kept(test.id, facts):
                mask = Mask(test.id, facts.values.spec.get(test, Spec(ndim=None)), origin=test.id)
        elif operation is not None and operation.rule is not None and operation.rule.op in _PRODUCTS:
            parts = [operation.bound[p] for p in linear_arguments(operation.rule)]
            mask = next((found for part in parts if (found := self._zeros_of(part)) is not None), None)
        if mask is None:
            return None
        masking = StatementMasks(facts, node, {}, ahead=True)
        mask = masking.whole_mask(mask)
        self._keep(masking)
        return mask

    def _reads_some(self, array: str, index: Node) -> bool:
        """Whether an array is read in a few pieces that leave some of it out."""
        pieces = [one.bound["index"] for user in self.users[array] if (one := _operation(user, self.facts)) is not None
                  and one.function is operator.getitem]  # fmt: skip
        few = len(pieces) <= _FEW and not self._is_new_axis(array, index)
        return few and leaves_out(index) and not is_taken_apart(pieces) and not any(is_computed(one) for one in pieces)

    def _is_new_axis(self, array: str, index: Node) -> bool:
        """Whether an index takes the one element of axes that stand in for others: `t[:, 0]`, of `x[:, None] * w`."""
        parts = getattr(index, "elts", [index])
        places = [k for k, part in enumerate(parts) if getattr(part, "value", part) == 0]
        if not all(isinstance(part, gast.Slice) or k in places for k, part in enumerate(parts)):
            return False
        return (
            bool(places)
            and not any(leaves_out(part) for k, part in enumerate(parts) if k not in places)
            and self._has_new_axes(array, places)
        )

    def _has_new_axes(self, array: str, places: list[int]) -> bool:
        node = self.facts.activity.definition.get(array)
        operation = None if node is None else _operation(node, self.facts)
        if operation is None or operation.rule is None or not self._can_be_read(array):
            return False
        if operation.function is operator.getitem:
            parts = getattr(operation.bound["index"], "elts", [])
            return all(k < len(parts) and getattr(parts[k], "value", 0) is None for k in places)
        names = [part.id for part in operation.bound.values() if isinstance(part, gast.Name)]
        return operation.rule.kind == "elementwise" and bool(names) and all(
            self._has_new_axes(one, places) for one in names
        )  # fmt: skip

    def _is_plain(self, node: Node, read: str) -> bool:
        """Whether a statement reads the value of a name alone, and no tangent of it."""
        facts, value = self.facts, getattr(node, "value", None)
        if isinstance(node, gast.If | gast.While):
            return True  # its test
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

    def _through(self, node: Node, read: str, later: Mask | None) -> Mask | None:
        """Where the tangent of what a statement reads is needed for that of what it binds."""
        operation = _operation(node, self.facts)
        if len(stores(node)) != 1 or written_names(node) or not isinstance(node, gast.Assign):
            return None
        if isinstance(node.value, gast.Name):
            return later
        if operation is None or operation.rule is None:
            return None
        if operation.function is operator.getitem:
            return self._through_index(node, operation, later)
        return self._through_lines(node, operation, read, later)

    def _through_index(self, node: Node, operation: Operation, later: Mask | None) -> Mask | None:
        index, array = operation.bound["index"], operation.bound["x"]
        if later is None and (not leaves_out(index) or self._is_new_axis(getattr(array, "id", ""), index)):
            return None
        masking = StatementMasks(self.facts, node, {}, ahead=True)
        later = None if later is None else masking.whole_mask(later)
        made = read_at(operation.bound["x"], as_value(copy_with_facts(index, self.facts)), later, masking)
        self._keep(masking)
        return made

    def _through_lines(self, node: Node, operation: Operation, read: str, later: Mask | None) -> Mask | None:
        facts, bound = self.facts, stores(node)[0]
        assert operation.rule is not None, "the caller has looked"
        template = adjoint_template(operation.rule)
        taken = differentiable_parameters(operation.rule)
        wanted = [p for p, a in operation.bound.items() if p in taken and isinstance(a, gast.AST) and read in loads(a)]
        if template is None or operation.rule.own is not None:
            return None
        given = name(f"adjoint of {bound}")  # in no text
        facts.values.spec[given] = facts.values.spec[node]
        setting = Setting(template, operation, facts, bound, facts.values.spec[node], {template.result: given})
        lines = instantiate(setting, frozenset(wanted))
        masking = StatementMasks(facts, node, {given.id: later}, ahead=True, vanishes=self._zeros_of)
        _, found = masking.lines(lines.shared, [line.value for line in lines.lines])
        masks: list[Mask | None] = []
        others = [a for a in operation.bound.values() if isinstance(a, gast.AST) and not isinstance(a, gast.Constant)]
        broadcasts = operation.rule.kind == "elementwise" and len(others) > 1
        for line, (_, mask) in zip(lines.lines, found, strict=True):
            operand = operation.bound[line.parameter]
            if broadcasts and mask is not None:
                mask = replace(mask, spec=self._spec_of(mask, masking) or facts.values.spec[node])
                mask = masking.fit_mask(mask, copy_with_facts(operand, facts), facts.values.spec.get(operand))
            masks += self._of_items(operand, read, mask, masking)
        made = masking.union_of_masks(masks) if masks else None
        self._keep(masking)
        return made

    def _spec_of(self, mask: Mask, masking: StatementMasks) -> Spec | None:
        """Rank and shape of a mask that is made like an array."""
        here = {stores(each)[0]: each for each in masking.made}
        node = here.get(mask.held) or self.made.get(mask.held) or self.facts.activity.definition.get(mask.held)
        shape = None if node is None else _shape_argument(node.value, self.facts)
        return self.facts.values.value_spec.get(getattr(shape, "id", ""))

    def _of_items(self, operand: Node, read: str, mask: Mask | None, masking: StatementMasks) -> list[Mask | None]:
        """That of an operand, or those of the items of a display that are a name."""
        if isinstance(operand, gast.Name) or mask is None or not isinstance(operand, gast.List | gast.Tuple):
            return [mask if isinstance(operand, gast.Name) else None]
        places = [place for place, item in enumerate(operand.elts) if read in loads(item)]
        plain = all(isinstance(operand.elts[place], gast.Name) for place in places)
        return [
            item_mask(mask, literal_node(place), operand.elts[place], masking) if plain else None for place in places
        ]

    def _keep(self, masking: StatementMasks) -> None:
        made = {stores(node)[0]: node for node in masking.made}
        self.made.update(made)
        self.made_at.update(dict.fromkeys(made, self.at))

    def _place(self, place: int, node: Node, mask: Mask) -> None:
        """Note the mask of a statement, with the statements that it takes, and behind which one its tangent stands."""
        facts, end = self.facts, place  # behind it stand the statements that the same statement of the user was
        user = facts.origin.user.get(node, node)
        while end + 1 < len(self.block) and self._goes_with(self.block[end + 1], user):
            end += 1
        masking = StatementMasks(facts, node, {}, ahead=True)
        mask = masking.whole_mask(mask)
        self._keep(masking)
        taken: dict[str, None] = {}
        todo = [(mask.held, place)]
        hoisted: Block = []
        last, again = end, False
        while todo:
            one, reader = todo.pop()
            if one not in self.made and not self._is_steady(one):
                if not self._is_the_same(one, place, reader):
                    return
                again = True
            if one in taken:
                continue
            taken[one] = None
            if one in self.made:
                todo += [(read, self.made_at[one]) for read in loads(self.made[one])]
            elif not self._is_steady(one):
                continue
            elif one in self.place and self.place[one] > end:
                if self._is_hoisted(one):
                    made = self.block[self.place[one]]
                    hoisted += [] if made in hoisted else [made]
                    todo += [(read, self.place[one]) for read in loads(made)]
                else:
                    last = max(last, self.place[one])
        if any(one in facts.memory.mutable and not self._is_shape(one, taken) for one in taken):
            return
        order = [each for held, each in self.made.items() if held in taken]
        hoisted = [each for each in hoisted if self.block.index(each) > last]
        if last > end and (again or not self._wait(place, last)):
            return
        facts.idioms.needed[node] = mask, [*sorted(hoisted, key=self.block.index), *order]

    def _is_steady(self, one: str) -> bool:
        """Whether a name means the same all over the block, or an array into which the block writes."""
        return self._can_be_read(one) or (one in self.facts.memory.mutable and self._is_kept(one))

    def _is_the_same(self, one: str, place: int, reader: int) -> bool:
        """Whether a name that is bound anew means the same for a tangent as for a later statement of the block."""
        facts = self.facts
        changing = (facts.memory.mutable, facts.memory.viewed, facts.memory.views, facts.kinds.containers)
        if one in self.written or one in facts.names.temporaries or any(one in table for table in changing):
            return False
        if any(one in stores(each) for each in statements(self.block[place:reader])):
            return False
        node = self.block[reader]
        made = [each.value for held, each in self.made.items() if self.made_at[held] == reader and one in loads(each)]
        own = all(any(same_tree(value, part) for part in walk(node.value)) for value in made)  # `y > 0.1`, of y before
        return one not in stores(node) or own

    def _shorten_masks(self) -> dict[str, str]:
        """By name, masks that are others, which stay; the others have the shapes of values that are there early."""
        early: dict[frozenset[str], str] = {}
        for one in dict.fromkeys(one for node in self.block for one in (*loads(node), *stores(node))):
            spec = self.facts.values.value_spec.get(one)
            if spec is not None and spec.shape and self._can_be_read(one) and one not in self.facts.kinds.containers:
                early.setdefault(spec.shape, one)
        text = {stores(node)[0]: node for node in self.block if _is_mask(node, self.facts)}
        short = _ShortMasks()
        for held, node in [*text.items(), *self.made.items()]:
            value = copy_with_facts(node.value, self.facts) if held in text else node.value
            for part in find_nodes(value, gast.Name):
                part.id = short.same.get(part.id, part.id)
            shape = _shape_argument(value, self.facts)
            spec = self.facts.values.value_spec.get(getattr(shape, "id", ""))
            if shape is not None and spec is not None:
                shape.id = early.get(spec.shape, shape.id)
            if all(self._can_be_read(one) for one in _values_read(node, self.facts)):
                short.note(held, value, self.facts)
        return short.same

    def _can_be_read(self, one: str) -> bool:
        """Whether a name means the same all over the block."""
        facts = self.facts
        changing = (facts.activity.rebound, facts.memory.mutable, facts.memory.viewed, facts.memory.views)
        return one not in self.written and not any(one in table for table in changing)

    def _is_shape(self, array: str, taken: dict[str, None]) -> bool:
        """Whether masks read an array for its shape alone."""
        made = [self.made.get(held) or self.block[self.place[held]] for held in taken if self._is_here(held)]
        return self._is_here(array) and not any(array in _values_read(node, self.facts) for node in made)

    def _is_here(self, one: str) -> bool:
        """Whether a name is a mask, or bound by a statement of the block itself."""
        return one in self.made or self.place.get(one, len(self.block)) < len(self.block)

    def _wait(self, place: int, last: int) -> bool:
        """Let the tangent of a statement stand behind a later one, and those that read it; whether all of them can."""
        if last >= len(self.block):
            return False
        waiting = [self.block[place]]
        bound = dict.fromkeys(stores(self.block[place]))
        for node in self.block[place + 1 : last + 1]:
            inner = [(each, one) for each in statements([node]) for part in header(each) for one in loads(part)]
            if any(one in bound and not self._is_plain(each, one) for each, one in inner):
                waiting.append(node)
                bound.update(dict.fromkeys(stores(node)))
        if waiting[-1] is self.block[last]:
            waiting.pop()
        if not all(self._can_wait(node) for node in waiting):
            return False
        later = self.facts.idioms.later
        for node in waiting:
            known = later.get(node)
            if known is None or self.block.index(known) < last:
                later[node] = self.block[last]
        return True

    def _can_wait(self, node: Node) -> bool:
        """Whether nothing that a statement reads or binds has changed further down."""
        if not isinstance(node, gast.Assign) or written_names(node) or node.value in self.facts.calls.pulled:
            return False
        return all(self._can_be_read(one) for one in [*loads(node), *stores(node)])

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


@record
class _ShortMasks:
    """Which masks are others: the same text, a union with a part of it, what is left out twice."""

    same: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    values: dict[str, Node] = field(default_factory=dict)
    parts: dict[str, frozenset[str]] = field(default_factory=dict)  # of a union

    def note(self, held: str, value: Node, facts: Facts) -> None:
        """Note what a mask is made of, or that it is another one."""
        text = gast.dump(value)
        other = self.texts.get(text) or self._part_of_union(held, value, facts) or self._left_out_before(value, facts)
        if other is None:
            self.texts[text], self.values[held] = held, value
        else:
            self.same[held] = other

    def _part_of_union(self, held: str, value: Node, facts: Facts) -> str | None:
        sides = [value.left, value.right] if isinstance(getattr(value, "op", None), gast.BitOr) else []
        sides = value.args if function_called(value, facts) is np.logical_or else sides
        parts = [self.parts.get(getattr(side, "id", ""), frozenset([gast.dump(side)])) for side in sides]
        for side, own, other in zip(sides, parts, reversed(parts), strict=True):
            if other <= own and isinstance(side, gast.Name):
                return str(side.id)
        if parts:
            self.parts[held] = frozenset.union(*parts)
        return None

    def _left_out_before(self, value: Node, facts: Facts) -> str | None:
        if function_called(value, facts) is not structure.mask_without or not isinstance(value.args[0], gast.Name):
            return None
        before = self.values.get(value.args[0].id)
        if before is None or function_called(before, facts) is not structure.mask_without:
            return None
        alike = all(same_tree(one, other) for one, other in zip(value.args[1:], before.args[1:], strict=True))
        return str(value.args[0].id) if alike else None


def _is_mask(node: Node, facts: Facts) -> bool:
    """Whether a statement binds a mask of a text of ours once."""
    if not isinstance(node, gast.Assign) or written_names(node) or len(stores(node)) != 1:
        return False
    called = function_called(node.value, facts) if isinstance(node.value, gast.Call) else None
    own = isinstance(node.value, gast.Compare) or called in _SHAPED
    return own and is_kept(stores(node)[0], facts)


def _values_read(node: Node, facts: Facts) -> list[str]:
    """What the statement of a mask reads, but for what it reads for its shape alone."""
    shape = _shape_argument(node.value, facts)
    return [part.id for part in find_nodes(node.value, gast.Name) if part is not shape]


_SHAPED = {structure.mask_to: 1, structure.mask_at: 0, structure.mask_without: 1}  # mask -> where its shape is from


def _shape_argument(call: Node, facts: Facts) -> Node | None:
    """What `mask_to(m, x)`, `mask_at(x, i)` or `diagonal_index(x)` reads for its shape."""
    function = function_called(call, facts) if isinstance(call, gast.Call) else None
    if function in _SHAPED:
        shape: Node = call.args[_SHAPED[function]]
        return shape
    rule = None if function is None else rule_of(function)
    return rule.argument(call, rule.outline) if rule is not None and rule.outline else None


def _operation(node: Node, facts: Facts) -> Operation | None:
    operation = facts.operation_of(node)
    return None if operation is None or operation.rule is None else square_operation(operation, facts)
