"""Masks: where an adjoint is zero by structure, and factors that may not spoil it: docs/decisions/masks.md.

A mask is carried with an adjoint, line by line of the rules: `np.where(c, g, 0.0)` begins one, what moves elements
moves it, a product hands it on. Where a masked adjoint meets a factor that may be inf or nan, the factor is a number
wherever that adjoint is zero, `np.where(m, y, 1.0)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from functools import partial
from itertools import repeat
from typing import Any  # numbers of any NumPy type

import gast
import numpy as np

from srcgrad.analysis.shapes import spec_of_tree
from srcgrad.core.facts import Facts, Spec, copy_with_facts
from srcgrad.core.identity import record, replace
from srcgrad.core.rules import Rule, linear_arguments, rule_of
from srcgrad.core.trees import (
    Block,
    Node,
    assign,
    at,
    expression,
    literal_node,
    loads,
    name,
    remade,
    same_tree,
    stores,
    walk,
)
from srcgrad.derive.regularity import DIVIDE, TemplateReading, is_finite, is_nonzero, meaning
from srcgrad.runtime import structure

Choose = Callable[[Node, float, bool], Node]  # a value, the number in its place, whether it is of a limited domain
Settled = Callable[[Node, bool], bool]  # whether a value is a number where nothing is taken; not 0, if it divides


def guard_factor(tree: Node, divides: bool, reading: TemplateReading, choose: Choose, settled: Settled) -> Node:
    """A factor, or what divides, that is a finite number, and not 0, wherever nothing is taken."""
    if divides:
        return tree if is_nonzero(tree, reading) or settled(tree, True) else choose(tree, 1.0, True)
    if is_finite(tree, reading) or settled(tree, False):
        return tree
    if isinstance(tree, gast.UnaryOp):
        tree.operand = guard_factor(tree.operand, False, reading, choose, settled)
    elif isinstance(tree, gast.BinOp) and isinstance(tree.op, gast.Pow):
        tree.left = choose(tree.left, 1.0, True)
        tree.right = guard_factor(tree.right, False, reading, choose, settled)
    elif isinstance(tree, gast.BinOp) and not isinstance(tree.op, gast.MatMult):
        tree.left = guard_factor(tree.left, False, reading, choose, settled)
        tree.right = guard_factor(tree.right, isinstance(tree.op, DIVIDE), reading, choose, settled)
    else:
        rule = rule_of(reading.called(tree.func)) if isinstance(tree, gast.Call) else None
        if rule is None or rule.kind != "elementwise":
            return choose(tree, 0.0, False)
        tree.args = _arguments(tree, rule, reading, choose, settled)
    return tree


def _arguments(tree: Node, rule: Rule, reading: TemplateReading, choose: Choose, settled: Settled) -> list[Node]:
    """Arguments of a function that are in its domain wherever nothing is taken."""
    if rule.op is np.where:
        return [tree.args[0], *(guard_factor(part, False, reading, choose, settled) for part in tree.args[1:])]
    parameters = [*rule.parameters, *("" for _ in tree.args)]
    limited = rule.domain != Rule.domain
    return [
        part if isinstance(part, gast.Constant) else choose(part, smooth_at(rule, parameter), limited)
        for part, parameter in zip(tree.args, parameters, strict=False)
    ]


def smooth_at(rule: Rule, parameter: str) -> float:
    """A number at which an operation is smooth."""
    low, high = _domain_of(rule, parameter)
    return next((one for one in (1.0, 0.5) if low < one < high), 0.5 * (low + high))


def _domain_of(rule: Rule, parameter: str) -> tuple[float, float]:
    domain = rule.domain
    if isinstance(domain, dict):
        return domain.get(parameter, (-2.0, 2.0))
    return domain


def is_settled(tree: Node, divides: bool, origin: str, facts: Facts, reading: TemplateReading) -> bool:
    """Whether a value is made of what the text has set to a number where a condition does not hold."""
    with np.errstate(all="ignore"):
        number = _elsewhere(tree, origin, facts, reading)
    if number is not None:
        return bool(np.isfinite(number)) and not (divides and number == 0.0)
    return isinstance(tree, gast.Name) and _is_chosen(tree.id, divides, origin, facts)


def _is_chosen(one: str, divides: bool, origin: str, facts: Facts) -> bool:
    """Whether a name is made of `np.where(c, x, 1.0)`, or of what is finite there; each is asked once."""
    known = facts.idioms.chosen
    if (one, divides, origin) not in known:
        known[one, divides, origin] = _is_made_of_chosen(one, divides, origin, facts)
    return known[one, divides, origin]


def _is_made_of_chosen(one: str, divides: bool, origin: str, facts: Facts) -> bool:
    operation = facts.operation_of(facts.activity.definition.get(one))
    if operation is None or operation.rule is None or operation.rule.kind != "elementwise":
        return False
    given = operation.bound
    if operation.function is np.where and "y" in given and getattr(given["condition"], "id", "") == origin:
        finite = not divides and all(read not in facts.idioms.doubts for read in loads(given["y"]))
        return finite or isinstance(given["y"], gast.Constant)
    names = [read for part in given.values() for read in loads(part)]
    settled = {read: _is_chosen(read, divides, origin, facts) for read in names}
    return any(settled.values()) and all(known or read not in facts.idioms.doubts for read, known in settled.items())


def _elsewhere(tree: Node, origin: str, facts: Facts, reading: TemplateReading) -> Any:
    """The number that a value is where a condition does not hold: 2.0 for `np.sqrt(np.where(c, x, 4.0))`."""
    if isinstance(tree, gast.Constant):
        return np.float64(tree.value) if type(tree.value) in (int, float) else None
    local = isinstance(tree, gast.Name) and reading.value(tree.id) is not None
    if not isinstance(tree, gast.Name) or local or tree.id not in facts.activity.definition:
        return _number_elsewhere(tree, origin, facts, reading)
    known = facts.idioms.elsewhere
    if (tree.id, origin) not in known:
        known[tree.id, origin] = _number_elsewhere(tree, origin, facts, reading)
    return known[tree.id, origin]


def _number_elsewhere(tree: Node, origin: str, facts: Facts, reading: TemplateReading) -> object:
    meant = reading.value(tree.id) if isinstance(tree, gast.Name) else None
    operation = facts.operation_of(facts.activity.definition.get(getattr(tree, "id", "")))
    if meant is not None:
        return _elsewhere(meant, origin, facts, reading)
    if operation is not None and operation.function is np.where and "y" in operation.bound:
        own = getattr(operation.bound["condition"], "id", "") == origin
        return _elsewhere(operation.bound["y"], origin, facts, reading) if own else None
    if operation is not None:
        function, given = operation.function, list(operation.bound.values())
    elif isinstance(tree, gast.Call) and not tree.keywords:
        function, given = reading.called(tree.func), tree.args
    elif isinstance(tree, gast.UnaryOp | gast.BinOp):
        function, given = (
            _UFUNCS.get(type(tree.op)),
            [getattr(tree, one) for one in ("operand", "left", "right") if hasattr(tree, one)],
        )
    elif isinstance(tree, gast.Compare) and len(tree.ops) == 1:
        function, given = _UFUNCS.get(type(tree.ops[0])), [tree.left, tree.comparators[0]]
    else:
        return None
    if not isinstance(function, np.ufunc) or function.nin != len(given) or function.nout != 1:
        return None
    numbers = [_elsewhere(one, origin, facts, reading) for one in given]
    return None if any(one is None for one in numbers) else function(*numbers)


_UFUNCS = {
    gast.Add: np.add, gast.Sub: np.subtract, gast.Mult: np.multiply, gast.Div: np.divide, gast.Pow: np.power,
    gast.USub: np.negative, gast.Eq: np.equal, gast.NotEq: np.not_equal,
}  # fmt: skip


def lasting_condition(test: Node, facts: Facts) -> Node:
    """A condition, or a copy of one that the function may change before it is read."""
    if not any(
        getattr(test, "id", "") in table for table in (facts.memory.mutable, facts.memory.viewed, facts.memory.views)
    ):
        return test
    return expression(f"{facts.library('np')}.array(m)", m=test)


def mask_tangent_line(tree: Node, facts: Facts) -> Node:
    """A line of a tangent in which weights that are zero by structure leave out what may be inf or nan.

    What holds no such product stays the node that it was: facts are known of it.
    """
    known = {held: facts.names.library_values[one] for one, held in facts.names.imports.items()}
    if not any(_is_weighted(part, known) for part in walk(tree)):
        return tree
    if _is_weighted(tree, known):
        return expression(f"{facts.library('picks')}(w, d)", w=tree.left, d=tree.right)
    return remade(tree, lambda part: mask_tangent_line(part, facts))


def _is_weighted(tree: Node, known: dict[str, object]) -> bool:
    """`w * d`, where w is what an operation makes that puts zeros where it takes nothing."""
    return isinstance(tree, gast.BinOp) and isinstance(tree.op, gast.Mult) and _has_zeros(tree.left, known)


def _has_zeros(tree: Node, known: dict[str, object]) -> bool:
    """Whether a weight, a sum of weights or a multiple is zero by structure somewhere."""
    if isinstance(tree, gast.BinOp) and isinstance(tree.op, gast.Add):
        return _has_zeros(tree.left, known) and _has_zeros(tree.right, known)
    if isinstance(tree, gast.BinOp) and isinstance(tree.op, gast.Mult) and isinstance(tree.left, gast.Constant):
        return _has_zeros(tree.right, known)
    rule = rule_of(meaning(tree.func, known)) if isinstance(tree, gast.Call) else None
    return rule is not None and rule.zeros == "made"


_OURS = (structure.mask_to, structure.mask_at, structure.mask_without)  # what gives booleans


@record(frozen=True)
class Mask:
    """Where an adjoint may be nonzero: where what `held` names is true, or where it is not."""

    held: str
    spec: Spec
    taken: bool = True
    plain: bool = False  # whether it is known to hold booleans
    origin: str = ""  # the name of the one condition behind it
    grown: bool = False  # whether it is an array that is changed with the elements of the adjoint, in a loop
    listed: bool = False  # whether `held` names a list or dict of masks, one for each item of a container
    items: tuple[tuple[object, Mask | None], ...] | None = None  # ... by key: to the other items nothing was added
    count: int = 0  # of these, if known: how many items the container has
    tests: tuple[tuple[Node, Mask], ...] = field(default=(), compare=False)  # conditions it was made of, by name

    @property
    def of_items(self) -> bool:
        """Whether it is that of a container, item by item."""
        return self.listed or self.items is not None

    @property
    def names(self) -> list[str]:
        """The names that it is read by, one for each item that has a mask of its own."""
        return [self.held, *(one.held for _, one in self.items or () if one is not None)]


def is_container(primal: str, facts: Facts) -> bool:
    """Whether a name holds a tuple, a list or a dict."""
    return primal in facts.kinds.containers or bool(facts.list_kind(primal))


@record
class StatementMasks:
    """The lines of one statement on their way to masks: what is carried in, and the statements that are made."""

    facts: Facts
    node: Node  # the statement
    carried: dict[str, Mask | None]  # names that hold an adjoint -> its mask
    needed: Mask | None = None  # where what they go into is needed, and may be anything elsewhere
    ahead: bool = False  # whether they stand in the forward half
    vanishes: Callable[[Node], Mask | None] = lambda _: None  # where a factor is zero by structure, if that is asked
    made: Block = field(default_factory=list)
    values: dict[str, Node] = field(default_factory=dict)  # names of shared work -> what it is
    shared: dict[str, None] = field(default_factory=dict)  # names of shared work on an adjoint: it has masks of its own
    tests: list[tuple[Node, Mask]] = field(default_factory=list)  # conditions, and their names
    chosen: dict[tuple[str, str, float], Mask] = field(default_factory=dict)  # what is masked, with what -> its name

    def __post_init__(self) -> None:
        facts = self.facts
        known = {held: facts.names.library_values[one] for one, held in facts.names.imports.items()}
        self.reading = TemplateReading(
            lambda node: meaning(node, known),
            lambda one: one not in facts.idioms.doubts,
            self.values.get,
            facts.idioms.floors.get,
        )

    def lines(
        self, shared: Block, values: list[Node], needed: Iterable[Mask | None] = repeat(None)
    ) -> tuple[Block, list[tuple[Node, Mask | None]]]:
        """Shared work and lines with their factors masked, and the mask of each line, where it is `needed`."""
        for node in shared:
            bound = stores(node)
            if self._carries(node.value):
                node.value, mask = self.line(node.value)
                self.carried.update(dict.fromkeys(bound, mask))
                self.shared.update(dict.fromkeys(bound))
            elif len(bound) == 1:
                self.values[bound[0]] = node.value
            self.made.append(node)
        found = []
        for value, self.needed in zip(values, needed, strict=False):
            found.append(self.line(value))
        return self.made, found

    def line(self, tree: Node, moves: bool = False) -> tuple[Node, Mask | None]:
        """A linear expression with its factors masked, and its mask, of the shape of the result if it `moves` on."""
        if isinstance(tree, gast.Name):
            mask = self.carried.get(tree.id)
            if mask is not None and mask.of_items:
                return tree, self._masks_of_all(mask) if moves else None
            return tree, self.whole_mask(mask) if moves and mask is not None else mask
        if isinstance(tree, gast.Subscript) and self._carries(tree.value):
            return self._part(tree, moves)
        if isinstance(tree, gast.UnaryOp):
            tree.operand, mask = self.line(tree.operand, moves)
            return tree, mask
        if isinstance(tree, gast.BinOp) and not isinstance(tree.op, gast.MatMult):
            return self._operation(tree, moves)
        if isinstance(tree, gast.Call):
            return self._call(tree, moves)
        if isinstance(tree, gast.Attribute) and self._carries(tree):
            tree.value, mask = self.line(tree.value, True)
            if mask is None or tree.attr not in ("T", "mT", "real"):
                return tree, None
            return tree, mask if tree.attr == "real" else self.bound(
                gast.Attribute(self.true_where_taken(mask), tree.attr, None)
            )
        return tree, None

    def _part(self, tree: Node, moves: bool) -> tuple[Node, Mask | None]:
        """`d[z][1]`: an adjoint of several results, or one of several that were computed before."""
        place, whole = getattr(tree.slice, "value", None), tree.value
        if isinstance(whole, gast.Tuple) and type(place) is int:
            return tree, self.line(whole.elts[place], moves)[1]
        if not isinstance(whole, gast.Name) or not isinstance(tree.slice, gast.Constant):
            return tree, None
        mask = self.carried[whole.id]
        if mask is None or (mask.items is not None and place not in dict(mask.items)):
            return tree, None
        if mask.items is not None:
            return tree, dict(mask.items)[place]
        known = self._read(mask) if mask.listed or whole.id in self.shared else self.whole(mask)
        return tree, self.bound(gast.Subscript(known, literal_node(place), gast.Load()), mask.plain)

    def _masks_of_all(self, mask: Mask) -> Mask | None:
        """The masks of all items of the result, each in the shape of its item."""
        if mask.listed:
            return self.whole_mask(mask)
        if not mask.count:
            return None
        known, found = dict(mask.items or ()), []
        for place in range(mask.count):
            one = known.get(place)
            found.append(self.true_where_taken(one) if one is not None else literal_node(place in known))
        made = expression(f"{self.facts.library('mask_to')}(m, x)", m=gast.Tuple(found, gast.Load()), x=self._result())
        return self.bound(made)

    def _operation(self, tree: Node, moves: bool) -> tuple[Node, Mask | None]:
        left, right = self._carries(tree.left), self._carries(tree.right)
        if left and right:
            tree.left, one = self.line(tree.left, moves)
            tree.right, other = self.line(tree.right, moves)
            return tree, self.union_of_masks([one, other])
        if left:
            tree.left, mask = self.line(tree.left, moves)
            if self._is_test(tree.right) and isinstance(tree.op, gast.Mult):
                return tree, self._intersect_masks(self._condition(copy_with_facts(tree.right, self.facts), True), mask)
            zero = self.vanishes(tree.right) if isinstance(tree.op, gast.Mult) else None
            tree.right = self._factor(tree.right, mask, isinstance(tree.op, gast.Div))
            return tree, mask if zero is None else self._intersect_masks(zero, mask)
        if right:
            tree.right, mask = self.line(tree.right, moves)
            zero = self.vanishes(tree.left)
            tree.left = self._factor(tree.left, mask, False)
            return tree, mask if zero is None else self._intersect_masks(zero, mask)
        return tree, None

    def _call(self, tree: Node, moves: bool) -> tuple[Node, Mask | None]:
        rule = rule_of(self.reading.called(tree.func))
        places = [k for k, part in enumerate(tree.args) if self._carries(part)]
        if rule is None or not (rule.selects or rule.zeros):
            if rule is not None and rule.kind == "elementwise" and len(places) == 1 and not tree.keywords:
                if rule.parameters[places[0]] in linear_arguments(rule):
                    return self._mask_product(tree, rule, places[0], moves)
            return self._mask_unknown_call(tree, moves)
        if not places or (tree.keywords and rule.selects):
            return tree, None
        if rule.selects:
            return self._mask_selection(tree, rule, places, moves)
        tree.args[places[0]], mask = self.line(tree.args[places[0]], True)
        if len(places) > 1 or (mask is None and rule.zeros != "made"):
            return tree, None
        again = copy_with_facts(tree, self.facts)
        ones = expression("np.ones(np.shape(z), dtype=np.bool_)", z=self._result(), np=self.facts.library("np"))
        again.args[places[0]] = self.true_where_taken(mask) if mask is not None else ones
        if rule.zeros == "added" and mask is not None:
            again.args[places[0]] = self.nans(mask)
            again = expression(f"{self.facts.library('np')}.isnan(e)", e=again)
        return tree, self.bound(again)

    def _mask_product(self, tree: Node, rule: Rule, place: int, moves: bool) -> tuple[Node, Mask | None]:
        """A call that is linear in one argument: `np.divide(g, x)`, `quotient(g, np.where(x == 0.0, np.inf, x))`."""
        tree.args[place], mask = self.line(tree.args[place], moves)
        for k, parameter in enumerate(rule.parameters[: len(tree.args)]):
            if k != place:
                low, high = _domain_of(rule, parameter)
                tree.args[k] = self._factor(tree.args[k], mask, not low < 0.0 < high)
        return tree, mask

    def _mask_unknown_call(self, tree: Node, moves: bool) -> tuple[Node, Mask | None]:
        """A call of which nothing is known: what it is given is masked, and what it gives has no mask."""
        tree.args = [self.line(part)[0] if self._carries(part) else part for part in tree.args]
        return tree, None

    def _mask_selection(self, tree: Node, rule: Rule, places: list[int], moves: bool) -> tuple[Node, Mask | None]:
        """`np.where(c, g, 0.0)`: where an argument is taken."""
        given = dict(zip(rule.parameters, tree.args, strict=False))
        found: list[Mask | None] = []
        for place in places:
            parameter = rule.parameters[place]
            text = rule.selects.get(parameter)
            tree.args[place], mask = self.line(tree.args[place], moves)
            if text is None:
                return tree, None
            test = expression(
                text.removeprefix("not "), **{key: copy_with_facts(v, self.facts) for key, v in given.items()}
            )
            condition = self._condition(test, not text.startswith("not "))
            if text in given and len(places) == 1:
                tree.args[rule.parameters.index(text)] = self._read(condition)
            found.append(self._intersect_masks(condition, mask))
        return tree, self.union_of_masks(found)

    def _condition(self, test: Node, taken: bool) -> Mask:
        known = next((mask for one, mask in self.tests if same_tree(one, test)), None)
        if known is None:
            known = self._mask_of_test(test)
            self.tests.append((copy_with_facts(test, self.facts), known))
        return known if taken else replace(known, taken=False)

    def _mask_of_test(self, test: Node) -> Mask:
        bound = self._named_condition(test) or self.bound(lasting_condition(test, self.facts) if self.ahead else test)
        known = self.facts.activity.definition.get(test.id) if isinstance(test, gast.Name) else None
        value = getattr(known, "value", test)
        rule = rule_of(self.reading.called(value.func)) if isinstance(value, gast.Call) else None
        ours = rule is not None and rule.op in _OURS
        return replace(bound, plain=ours or isinstance(value, gast.Compare))

    def _named_condition(self, test: Node) -> Mask | None:
        """A condition that has a name, and means the same further up."""
        facts = self.facts
        if not isinstance(test, gast.Name) or test in facts.resolution.results:
            return None
        if test.id in facts.names.local and test.id not in facts.activity.definition:
            return None
        changing = any(
            test.id in table
            for table in (facts.activity.rebound, facts.memory.mutable, facts.memory.viewed, facts.memory.views)
        )
        return None if changing else Mask(test.id, spec_of_tree(test, facts), origin=test.id)

    def _intersect_masks(self, one: Mask, other: Mask | None) -> Mask:
        if other is None or (one.held == other.held and one.taken == other.taken):
            return one
        return self._combine_masks(one, other, gast.BitAnd(), "logical_and")

    def union_of_masks(self, masks: Iterable[Mask | None]) -> Mask | None:
        """The mask of a sum: None where some term has none, or has what another one leaves out."""
        found: Mask | None = None
        taken: dict[str, bool] = {}
        for place, mask in enumerate(masks):
            if mask is None or taken.setdefault(mask.held, mask.taken) != mask.taken:
                return None
            same = found is not None and found.held == mask.held and found.taken == mask.taken
            if place and not same and (mask.of_items or found.of_items):  # type: ignore[union-attr]
                return None
            found = mask if place == 0 or same else self._combine_masks(found, mask, gast.BitOr(), "logical_or")  # type: ignore[arg-type]
        return found

    def _combine_masks(self, one: Mask, other: Mask, operator: Node, called: str) -> Mask:
        sides = self.true_where_taken(one), self.true_where_taken(other)
        if one.plain and other.plain:
            return self.bound(gast.BinOp(sides[0], operator, sides[1]), True)
        numpy = self.facts.library("np")
        return self.bound(expression(f"{numpy}.{called}(a, b)", a=sides[0], b=sides[1]), True)

    def bound(self, tree: Node, plain: bool = False) -> Mask:
        """A mask with a name of its own: what it is made of may be something else further up."""
        facts = self.facts
        spec = spec_of_tree(tree, facts)
        held = facts.names.new_temporary()
        self.made.append(at(assign(held, tree), self.node))
        return Mask(held, spec, True, plain)

    def _read(self, mask: Mask) -> Node:
        made = name(mask.held)
        self.facts.values.spec[made] = mask.spec
        return made

    def true_where_taken(self, mask: Mask) -> Node:
        """A tree that is true where the mask is."""
        if mask.taken:
            return self._read(mask)
        if mask.plain:
            number = mask.spec.scalar and not self.facts.module.leading.axis
            return gast.UnaryOp(gast.Not() if number else gast.Invert(), self._read(mask))
        made = expression(f"{self.facts.library('np')}.logical_not(m)", m=self._read(mask))
        self.facts.values.spec[made] = mask.spec
        return made

    def _result(self) -> Node:
        made = name(stores(self.node)[0])
        self.facts.resolution.results[made] = None
        if self.node in self.facts.values.spec:
            self.facts.values.spec[made] = self.facts.values.spec[self.node]
        return made

    def whole(self, mask: Mask) -> Node:
        """What is true where the mask is, in the shape of the result."""
        return self.true_where_taken(self.whole_mask(mask))

    def whole_mask(self, mask: Mask) -> Mask:
        """The mask in the shape of the result."""
        return self.fit_mask(mask, self._result(), self.facts.values.spec.get(self.node))

    def nans(self, mask: Mask) -> Node:
        """nan where the result's adjoint may be nonzero, which goes wherever that is added up."""
        return expression("np.where(m, np.nan, 0.0)", m=self.whole(mask), np=self.facts.library("np"))

    def fit_mask(self, mask: Mask, like: Node, spec: Spec | None) -> Mask:
        """The mask in the shape of a value."""
        if spec is not None and mask.spec.shape == spec.shape and (spec.shape or spec.scalar) and not mask.listed:
            return mask
        made = expression(f"{self.facts.library('mask_to')}(m, x)", m=self._read(mask), x=like)
        if not mask.taken:
            made.args[0] = self.true_where_taken(mask)
        bound = self.bound(made, True)
        origin = mask.origin if mask.taken else ""
        return replace(bound, origin=origin, spec=bound.spec if spec is None else spec)

    def _carries(self, tree: Node) -> bool:
        return any(one in self.carried for one in loads(tree))

    def _is_test(self, tree: Node) -> bool:
        """Whether a factor is a comparison of a rule: where it is false, nothing is taken."""
        return isinstance(tree, gast.Name) and isinstance(self.values.get(tree.id), gast.Compare)

    def _factor(self, tree: Node, mask: Mask | None, divides: bool) -> Node:
        if mask is None and self.needed is None:
            return tree
        return guard_factor(
            tree,
            divides,
            self.reading,
            lambda *part: self._choose_by_mask(mask, *part),
            partial(self._is_masked_already, mask),
        )

    def _choose_by_mask(self, mask: Mask | None, tree: Node, other: float, limited: bool) -> Node:
        """`np.where(m, x, 1.0)`, or `np.where(m, 1.0, x)`; of a name, once in a statement.

        Where it is not needed a product may be anything, but a quotient warns.
        """
        held = getattr(tree, "id", "")
        least = replace(self.reading, floor=self.facts.idioms.least.get)
        masks = [mask, self.needed if (limited or self.ahead) and not is_nonzero(tree, least) else None]
        left = [one for one in masks if one is not None and not self._is_settled(one, tree, other == 1.0)]
        if not left:
            return tree
        mask = left[0] if len(left) == 1 else self._intersect_masks(left[1], left[0])
        known = (held, mask.held, other)
        sides = {"x": tree, "e": literal_node(other)}
        order = "x, e" if mask.taken else "e, x"
        made = expression(f"{self.facts.library('np')}.where(m, {order})", m=self._read(mask), **sides)
        if not held:
            return made
        if known not in self.chosen:
            self.chosen[known] = self.bound(made)
        return self._read(self.chosen[known])

    def _is_masked_already(self, mask: Mask | None, tree: Node, divides: bool) -> bool:
        """Whether a factor has been set to a number wherever nothing is taken or needed."""
        masks = [one for one in (mask, self.needed) if one is not None]
        return all(self._is_settled(one, tree, divides) for one in masks)

    def _is_settled(self, mask: Mask, tree: Node, divides: bool) -> bool:
        return bool(mask.origin and mask.taken) and is_settled(tree, divides, mask.origin, self.facts, self.reading)
