"""Regularity: which values and factors may be inf or nan, and which cannot: docs/decisions/masks.md.

`x * x + 1e-9` is at least 1e-9, so its root has a derivative everywhere. `g / x` may not be finite where what it reads
is, `g * np.cos(x)` is. What may not be finite needs a mask where the adjoint beside it is zero by structure.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any  # literals are arbitrary objects

import gast
import numpy as np

from srcgrad.core.facts import UNKNOWN, Facts, Operation, Spec
from srcgrad.core.identity import record
from srcgrad.core.rules import ParsedTemplate as Template
from srcgrad.core.rules import Rule, adjoint_template, derivative_of, rule_of
from srcgrad.core.trees import (
    Block,
    Node,
    find_nodes,
    header,
    literal_node,
    loads,
    name,
    parameters,
    same_tree,
    statements,
    stores,
    written_names,
)
from srcgrad.derive.instantiate_rules import Setting, chosen_assignments, square_operation
from srcgrad.runtime.contract import self_dot, self_product

_TINY = 1e-30  # what is less may be 0 as a float32
_FROM_ZERO = (np.absolute, np.square, np.exp, np.exp2, np.var, np.std, np.hypot, np.linalg.norm)
_KEPT = (np.sum, np.mean, np.cumsum, np.max, np.min, np.sqrt, np.log1p, operator.getitem, np.triu, np.tril, np.where)
_LEAST: dict[object, Callable[[float, float], float]] = {
    np.add: operator.add,
    np.multiply: operator.mul,
    np.minimum: min,
    np.fmin: min,
}
_WORDS = (
    "x",
    "y",
    "a",
    "m",
    "k",
    "axis",
    "keepdims",
    "axes",
    "shape",
    "operands",
    "a_min",
    "a_max",
    "condition",
    "index",
)


def note_floors(order: Block, apart: list[str], facts: Facts) -> None:
    """Note, by name, a number of at least 0 below which no value is, where the arguments are finite; none is nan.

    >>> from srcgrad.interface.show.explain import explain_facts
    >>> text = "def f(x):\\n    r = np.sqrt(x * x + 0.25)\\n    return np.sum(1.0 / r)"
    >>> explain_facts(text, after="note_doubts").idioms.floors
    {'t2': 0.0, 't1': 0.25, 'r': 0.5, 't4': 0.0, 'y': 0.0}
    """
    made: dict[str, list[Node]] = {}
    for node in order:  # a write into an array, by whatever name, is one of these (frontend/desugar/views.py)
        for bound in stores(node):
            made.setdefault(bound, []).append(node)
    open_ = {one: nodes for one, nodes in made.items() if one not in apart and one not in facts.values.complex}
    while True:
        known = len(facts.idioms.floors)
        for one, nodes in open_.items():
            if one not in facts.idioms.floors:
                found = [floor_of_value(node, facts) for node in nodes]
                least = [each for each in found if each is not None]
                if len(least) == len(found):
                    facts.idioms.floors[one] = min(least)
        if len(facts.idioms.floors) == known:
            return


def floor_of_value(node: Node, facts: Facts) -> float | None:
    """The floor of what a statement binds."""
    if not isinstance(node, gast.Assign) or not isinstance(node.targets[0], gast.Name):
        return None
    operation = facts.resolution.operation.get(node.value)
    found = floor(node.value, facts) if operation is None else floor_of(operation, facts)
    return 0.0 if found is not None and found < _TINY else found


def floor(node: object, facts: Facts) -> float | None:
    """The floor of an operand: a name or a literal."""
    if isinstance(node, gast.Name):
        return facts.idioms.floors.get(node.id)
    value: Any = node.value if isinstance(node, gast.Constant) else None
    return float(value) if type(value) in (int, float) and value >= 0 else None


def floor_of(operation: Operation, facts: Facts) -> float | None:
    """The floor of what a call gives."""
    bound, rule = operation.bound, operation.rule
    read = [one for part in bound.values() if isinstance(part, gast.AST) for one in loads(part)]
    if operation.kind != "op" or rule is None or not bound or any(one not in _WORDS for one in bound):
        return None
    given, function = list(bound.values()), rule.op
    if _is_square(operation, facts):
        return 0.0
    if function in _FROM_ZERO:
        return 0.0 if all(_is_number(part, facts) for part in given) else None
    if function in (np.maximum, np.fmax, np.logaddexp):
        least = [one for part in given if (one := floor(part, facts)) is not None]
        return max(least) if least and all(_is_number(part, facts) for part in given) else None
    if function is np.clip:
        return _lower_clip_bound(bound, facts)
    if function is np.power:
        return _power(given[0], given[1], facts)
    first = floor(given[1] if function is np.where else given[0], facts)
    if first is None:
        return None
    if function in _KEPT or rule.zeros == "kept":
        return _floor_of_result(function, first, given, facts)
    second = floor(given[1], facts) if len(given) == 2 else None
    if second is None:
        return None
    if function is np.divide:
        return 0.0 if second > 0.0 and all(one not in facts.idioms.doubts for one in loads(given[0])) else None
    if (
        function is np.multiply
        and not (first > 0.0 and second > 0.0)
        and any(one in facts.idioms.doubts for one in read)
    ):
        return None  # 0 times inf
    return _LEAST[function](first, second) if function in _LEAST else None


def _floor_of_result(function: object, first: float, given: list[Node], facts: Facts) -> float | None:
    if function is np.where:
        other = floor(given[2], facts) if len(given) == 3 else None
        return None if other is None else min(first, other)
    if function is np.sqrt:
        return math.sqrt(first)
    return 0.0 if function in (np.sum, np.cumsum, np.log1p, np.triu, np.tril) else first


def _is_number(node: object, facts: Facts) -> bool:
    """Whether no value is nan."""
    if isinstance(node, gast.Name):
        return node.id not in facts.idioms.doubts or node.id in facts.idioms.floors
    return not isinstance(node, gast.AST) or not any(one in facts.idioms.doubts for one in loads(node))


def _lower_clip_bound(bound: dict[str, Node], facts: Facts) -> float | None:
    """`np.clip(x, 1e-6, 1.0 - 1e-6)`."""
    lower, upper = (bound.get(one, literal_node(None)) for one in ("a_min", "a_max"))
    least, above = floor(lower, facts), floor(upper, facts)
    if least is None or not _is_number(next(iter(bound.values())), facts):
        return None
    if isinstance(upper, gast.BinOp) and isinstance(upper.op, gast.Sub):
        one, other = upper.left, upper.right
        if isinstance(one, gast.Constant) and isinstance(other, gast.Constant):
            above = one.value - other.value
    if isinstance(upper, gast.Constant) and upper.value is None:
        return least
    return None if above is None or above < 0.0 else min(least, above)


def _power(x: Node, power: Node, facts: Facts) -> float | None:
    value: Any = power.value if isinstance(power, gast.Constant) else None
    least = floor(x, facts)
    if type(value) not in (int, float):
        return None
    if value >= 0 and value % 2 == 0:
        return 0.0 if _is_number(x, facts) else None
    if least is None or (value < 0 and not least > 0.0):
        return None
    return float(least**value) if value >= 0 else 0.0


def _is_square(operation: Operation, facts: Facts) -> bool:
    """Products of a value with itself: `x * x`, `v @ v`, `np.einsum("ij,ij->i", d, d)`."""
    given = list(operation.bound.values())
    if operation.function is np.einsum:
        text, *read = given[0].elts
        terms = str(getattr(text, "value", "")).partition("->")[0].split(",")
        twice = len(terms) == len(read) == 2 and terms[0] == terms[1] and isinstance(read[0], gast.Name)
        return twice and same_tree(read[0], read[1]) and _is_number(read[0], facts)
    one = square_operation(operation, facts)
    if one is operation or not _is_number(given[0], facts):
        return False
    if one.function in (self_dot, self_product):
        return facts.values.value_spec.get(given[0].id, Spec(ndim=None)).ndim == 1
    return True


DIVIDE = (gast.Div, gast.FloorDiv, gast.Mod)


def _unknown_floor(one: str) -> float | None:
    return None


@record(frozen=True)
class TemplateReading:
    """What the names of an expression mean."""

    called: Callable[[Node], Any]  # tree of a function -> the function
    is_finite: Callable[[str], bool]  # whether the value of a name is a finite number
    value: Callable[[str], Node | None]  # the expression or literal that a name stands for
    floor: Callable[[str], float | None] = _unknown_floor  # the least that the value of a name can be


_FINITE = (gast.Compare, gast.BoolOp, gast.Slice)


def is_finite(node: Node, reading: TemplateReading) -> bool:
    """Whether an expression is a finite number wherever the names that are finite are numbers at all."""
    kind = type(node)
    if kind is gast.Name:
        meant = reading.value(node.id)
        return reading.is_finite(node.id) if meant is None else is_finite(meant, reading)
    if kind is gast.Constant:
        return not isinstance(node.value, float | complex) or np.isfinite(node.value)
    if derivative_of(node) is not None or kind in _FINITE:
        return True
    if kind is gast.UnaryOp:
        return is_finite(node.operand, reading)
    if kind is gast.BinOp:
        return _is_finite_operation(node, reading)
    if kind is gast.Call:
        return _is_finite_call(node, reading)
    if kind is gast.Attribute:
        known = reading.called(node)
        return math.isfinite(known) if isinstance(known, float) else is_finite(node.value, reading)
    if kind is gast.Subscript:
        return is_finite(node.value, reading)
    return isinstance(node, gast.Tuple | gast.List) and all(is_finite(part, reading) for part in node.elts)


def _is_finite_operation(node: Node, reading: TemplateReading) -> bool:
    left = is_finite(node.left, reading)
    if isinstance(node.op, DIVIDE):
        return left and is_nonzero(node.right, reading)
    if isinstance(node.op, gast.Pow):
        power = _literal(node.right, reading)
        positive = _is_positive(node.left, reading)
        return left and type(power) in (int, float) and (positive or (power >= 0 and power == int(power)))
    return left and is_finite(node.right, reading)


def _is_finite_call(node: Node, reading: TemplateReading) -> bool:
    function = reading.called(node.func)
    rule = rule_of(function)
    if rule is None and isinstance(node.func, gast.Attribute) and function is None:
        return False
    given = [*node.args, *(word.value for word in node.keywords)]
    if function is np.where:
        given = given[1:]
    if function in (np.log, np.sqrt) and _is_positive(node.args[0], reading):
        return is_finite(node.args[0], reading)
    smooth = rule is not None and (rule.kind in ("constant", "linear", "multilinear") or is_regular(rule))
    return smooth and all(is_finite(part, reading) for part in given)


def is_nonzero(node: Node, reading: TemplateReading) -> bool:
    """Whether a divisor is never 0 nor nan; it may be inf."""
    if isinstance(node, gast.Name) and (value := reading.value(node.id)) is not None:
        return is_nonzero(value, reading)
    if isinstance(node, gast.UnaryOp):
        return is_nonzero(node.operand, reading)
    if isinstance(node, gast.Constant):
        return isinstance(node.value, int | float | complex) and bool(node.value != 0) and node.value == node.value
    if isinstance(node, gast.Attribute):
        known = reading.called(node)
        return isinstance(known, float) and known != 0.0 and known == known
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult):
        return is_nonzero(node.left, reading) and is_nonzero(node.right, reading)
    if isinstance(node, gast.Call) and reading.called(node.func) is np.where and len(node.args) == 3:
        test, one, other = node.args
        return _is_guarded(test, one, other, reading)
    if isinstance(node, gast.Call) and (rule := rule_of(reading.called(node.func))) is not None:
        if rule.kind == "constant":
            return True  # a rule divides by counts, which are at least 1
    return _is_positive(node, reading)


def _is_guarded(test: Node, one: Node, other: Node, reading: TemplateReading) -> bool:
    """`np.where(z == 0.0, np.inf, z)`, or `np.sign(z)` there."""
    if not isinstance(test, gast.Compare) or not isinstance(test.ops[0], gast.Eq):
        return False
    zero = _literal(test.comparators[0], reading) == 0.0
    sign = isinstance(other, gast.Call) and reading.called(other.func) is np.sign
    z = other.args[0] if sign else other
    return zero and same_tree(test.left, z) and is_nonzero(one, reading) and is_finite(z, reading)


def _is_positive(node: Node, reading: TemplateReading) -> bool:
    """A positive number, `1.0 + x * x`, or the root of one."""
    literal = _literal(node, reading)
    if type(literal) in (int, float):
        return bool(literal > 0)
    if isinstance(node, gast.Name):
        meant = reading.value(node.id)
        return (reading.floor(node.id) or 0.0) > 0.0 if meant is None else _is_positive(meant, reading)
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Add):
        positive = _is_positive(node.left, reading) or _is_positive(node.right, reading)
        return positive and all(
            _is_positive(n, reading) or _is_finite_square(n, reading) for n in (node.left, node.right)
        )
    if isinstance(node, gast.Call) and reading.called(node.func) is np.sqrt:
        return _is_positive(node.args[0], reading)
    return False


def _is_finite_square(node: Node, reading: TemplateReading) -> bool:
    product = isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult)
    return product and same_tree(node.left, node.right) and is_finite(node.left, reading)


def _literal(node: Node, reading: TemplateReading) -> Any:
    if isinstance(node, gast.Name):
        meant = reading.value(node.id)
        return None if meant is None else _literal(meant, reading)
    return node.value if isinstance(node, gast.Constant) else None


def meaning(node: Node, namespace: dict[str, object]) -> object:
    """What `np.cos` is, in a template or a text; None if that cannot be told."""
    if isinstance(node, gast.Attribute):
        return getattr(meaning(node.value, namespace), node.attr, None)
    return namespace.get(node.id) if isinstance(node, gast.Name) else None


_regular: dict[int, tuple[Rule, bool]] = {}


def is_regular(rule: Rule) -> bool:
    """Whether an operation and its derivatives are finite wherever its arguments are: a fact of the rule's lines."""
    known = _regular.get(id(rule))
    if known is not None and known[0] is rule:
        return known[1]
    everywhere = rule.kind == "elementwise" and rule.domain == Rule.domain
    _regular[id(rule)] = rule, everywhere  # the line of sin reads cos, whose line reads sin: no gamma functions
    template = None if rule.overflows or rule.own is not None else adjoint_template(rule)
    found = template is not None and _is_regular(template)
    _regular[id(rule)] = rule, found
    return found


def _is_regular(template: Template) -> bool:
    lines = [node for part in template.body for node in find_nodes(part, gast.Assign)]
    held = {line.targets[0].id: line.value for line in lines if isinstance(line.targets[0], gast.Name)}
    reading = TemplateReading(
        lambda node: meaning(node, template.namespace),
        lambda one: one in (template.result, *template.parameters) or isinstance(template.namespace.get(one), float),
        lambda one: held.get(one),
    )
    return all(is_finite(line.value, reading) for line in lines)


def _read_template(
    operation: Operation, template: Template, chosen: list[Node], finite: Callable[[Node], bool], facts: Facts
) -> TemplateReading:
    """What the names of a template stand for in one call."""
    held = {line.targets[0].id: line.value for line in chosen if isinstance(line.targets[0], gast.Name)}
    bound = {**template.defaults, **operation.bound}

    def value(one: str) -> Node | None:
        literal = bound.get(one)
        return held.get(one) if not isinstance(literal, gast.Constant) else literal

    def number(one: str) -> bool:
        if one == template.result:
            return finite(name(one))
        if one not in bound:
            return isinstance(template.namespace.get(one), float | int)
        return finite(bound[one])

    def floor_of_name(one: str) -> float | None:
        if not number(one):
            return None  # inf: its own derivative is none
        return floor_of(operation, facts) if one == template.result else floor(bound.get(one), facts)

    return TemplateReading(lambda node: meaning(node, template.namespace), number, value, floor_of_name)


_OPERATORS = {
    np.divide: gast.Div, np.power: gast.Pow, np.floor_divide: gast.FloorDiv, np.remainder: gast.Mod, np.fmod: gast.Mod,
    np.divmod: gast.FloorDiv,
}  # fmt: skip


def gives_finite(operation: Operation, facts: Facts, doubtful: dict[str, None]) -> bool:
    """Whether the value of a call is finite where what it reads is, and the names in `doubtful` may not be."""
    rule, given = operation.rule, list(operation.bound.values())
    if rule is not None and rule.kind == "constant" and not isinstance(operation.function, np.ufunc):
        return True  # arrays of ones, lengths, positions
    text = TemplateReading(partial(object_of, facts=facts), lambda one: one not in doubtful, lambda one: None)
    if operation.function is np.divide and len(given) == 2 and (floor(given[1], facts) or 0.0) > 0.0:
        return is_finite(given[0], text)  # `1 / (1 + np.exp(x))`
    if rule is None or not all(is_finite(part, text) for part in given):
        return False
    if rule.op in _OPERATORS and len(given) == 2:
        reading = TemplateReading(lambda node: None, lambda one: True, lambda one: None, facts.idioms.floors.get)
        return is_finite(gast.BinOp(given[0], _OPERATORS[rule.op](), given[1]), reading)
    if rule.kind in ("linear", "multilinear", "constant"):
        return True
    return not rule.overflows and has_finite_lines(operation, facts, doubtful, True)


def is_finite_quotient(value: Node | None, facts: Facts) -> bool:
    """Whether a value that has no derivative, if it is a whole quotient, divides by what is never 0."""
    by = None
    if isinstance(value, gast.Call) and object_of(value.func, facts) is np.floor_divide and len(value.args) > 1:
        by = value.args[1]
    elif isinstance(value, gast.BinOp) and isinstance(value.op, gast.FloorDiv):
        by = value.right
    return by is None or is_nonzero(
        by, TemplateReading(lambda node: None, lambda one: True, lambda one: None, facts.idioms.floors.get)
    )


def object_of(node: Node, facts: Facts) -> object:
    """What `np.nan` is in the user's text."""
    if isinstance(node, gast.Attribute):
        return getattr(object_of(node.value, facts), node.attr, None)
    known = (
        facts.namespace.lookup(node.id) if isinstance(node, gast.Name) and node.id not in facts.names.local else None
    )
    return None if known is None else known.object


def has_finite_lines(operation: Operation, facts: Facts, doubtful: dict[str, None], result: bool) -> bool:
    """Whether all derivatives of a call are finite; `result` says whether its value is."""
    rule = operation.rule
    template = None if rule is None or rule.own is not None else adjoint_template(rule)
    if template is None:
        return False
    if operation.function is np.einsum:  # sums of products, whatever the template calls
        return all(one not in doubtful for part in operation.bound.values() for one in _names(part))
    setting = Setting(template, operation, facts, "", Spec(ndim=None), {})
    chosen = chosen_assignments(template.body, setting)

    def all_finite(node: Node) -> bool:
        if isinstance(node, gast.Name) and node.id == template.result:
            return result
        return all(one not in doubtful for one in _names(node))

    reading = _read_template(operation, template, chosen, all_finite, facts)
    wanted = [p for p, a in operation.bound.items() if any(one in facts.activity.active for one in _names(a))]
    lines = [line for line in chosen if derivative_of(line.targets[0]) in wanted]
    return all(is_finite(line.value, reading) for line in lines)


def _names(node: Node) -> tuple[str, ...]:
    return loads(node) if isinstance(node, gast.AST) else ()


_NUMBERS = ("scalar", "function", "object", "none", "other")


def note_doubts(function: Node, facts: Facts) -> Node:
    """Note the names of doubtful values, and of those whose adjoints meet a factor that is not finite for sure.

    >>> from srcgrad.interface.show.explain import explain_facts
    >>> list(explain_facts("def f(x):\\n    y = np.sqrt(x)\\n    return np.sum(y)", after="note_doubts").idioms.masked)
    ['y', 'result']
    """
    if facts.request.mode == "primal":
        return function
    order = statements(function.body)
    begun = dict.fromkeys([*_outside_arrays(function, order, facts), *_names_tested_for_nan(order, facts)])
    facts.idioms.doubts = _doubtful_names(order, begun, facts)
    if facts.idioms.doubts:
        facts.idioms.doubts = begun
        for part in _stretches(function.body):
            _settle(part, parameters(function), facts)
    facts.idioms.least = facts.idioms.floors
    facts.idioms.floors = {
        one: least for one, least in facts.idioms.floors.items() if one not in facts.idioms.doubts
    }  # inf is no divisor
    note_masks(order, facts)
    return function


def note_masks(order: Block, facts: Facts) -> None:
    """Note the names whose adjoints want a mask."""
    facts.idioms.masked = _adjoints_to_mask(order, facts)
    pieces = _pieces_read(order, facts)
    found = _recurrences(order, facts)
    facts.idioms.singled = {
        one: None for one, read in pieces.items() if one in found and any(is_one(index, facts) for index in read)
    }
    perhaps = _pieces_read([one for node in order if isinstance(node, gast.If) for one in statements([node])], facts)
    whole = [one for one in facts.idioms.masked if one in pieces and one not in perhaps and is_taken_apart(pieces[one])]
    again = _pieces_read([one for node in order if is_loop(node) for one in statements(node.body)], facts)
    facts.idioms.covered = dict.fromkeys(one for one in whole if one not in again)
    if facts.request.handed.gives_masks:  # nor do pieces with computed bounds begin a mask of what is called
        whole += [one for one in facts.idioms.masked if any(is_computed(index) for index in pieces.get(one, ()))]
    facts.idioms.masked.update(dict.fromkeys(whole, False))
    facts.idioms.singled.update(dict.fromkeys(whole))


def is_loop(node: Node) -> bool:
    return isinstance(node, gast.For | gast.While)


def is_computed(index: Node) -> bool:
    """Whether an index has a slice whose bounds are not literals."""
    return any(isinstance(part, gast.Slice) and loads(part) for part in getattr(index, "elts", [index]))


def _recurrences(order: Block, facts: Facts) -> dict[str, None]:
    """Arrays that are read in pieces in a loop which writes into them."""
    found: dict[str, None] = {}
    for loop in (node for node in order if is_loop(node)):
        body = statements(loop.body)
        written = {one for node in body for one in written_names(node)}
        found.update(dict.fromkeys(one for one in _pieces_read(body, facts) if one in written))
    return found


def _pieces_read(order: Block, facts: Facts) -> dict[str, list[Node]]:
    """By array, the indices with which it is read."""
    found: dict[str, list[Node]] = {}
    for node in order:
        operation = _operation(node, facts)
        if operation is not None and operation.function is operator.getitem:
            found.setdefault(getattr(operation.bound["x"], "id", ""), []).append(operation.bound["index"])
    return found


def is_taken_apart(read: list[Node]) -> bool:
    """Whether an array is read in pieces that leave none out: `p[:, 0:2]` and `p[:, 2]`, `u[1:]` and `u[:-1]`."""
    axes: dict[int, list[Node]] = {}
    for index in read:
        taken = [part for part in getattr(index, "elts", [index]) if getattr(part, "value", part) is not None]
        dots = [k for k, part in enumerate(taken) if getattr(part, "value", None) is ...]
        for k, part in enumerate(taken):
            if not _is_all(part):
                axes.setdefault(k - len(taken) if dots and k > dots[0] else k, []).append(part)
    return bool(axes) and all(_covers([_piece(part) for part in parts]) for parts in axes.values())


def _covers(found: list[tuple[int, int] | None]) -> bool:
    """Whether pieces of an axis leave none of it out before the end of the last one."""
    pieces = sorted(piece for piece in found if piece is not None)
    if len(pieces) < 2 or len(pieces) < len(found):
        return False
    end = 0
    for start, stop in pieces:
        if start > end:
            return False
        end = max(end, stop)
    return True


_END = 1 << 30  # the end of an axis, some elements before it included


def _piece(part: Node) -> tuple[int, int] | None:
    """From where to where a literal index or slice reads; None for any other."""
    if isinstance(part, gast.Constant) and type(part.value) is int:
        return part.value, part.value + 1
    if not isinstance(part, gast.Slice) or part.step is not None:
        return None
    lower = 0 if part.lower is None else getattr(part.lower, "value", None)
    below = isinstance(part.upper, gast.UnaryOp) and isinstance(part.upper.operand, gast.Constant)
    upper = _END if part.upper is None or below else getattr(part.upper, "value", None)
    return (lower, upper) if type(lower) is int and type(upper) is int else None


def is_one(index: Node, facts: Facts) -> bool:
    """Whether an index names one element, or one row, of each axis that it is for."""
    parts = [part.operand if isinstance(part, gast.UnaryOp) else part for part in getattr(index, "elts", [index])]
    return all(
        type(getattr(part, "value", None)) is int or getattr(part, "id", "") in facts.values.integers for part in parts
    )


def leaves_out(index: Node) -> bool:
    """Whether an index may leave out some elements: it is not `x[:, None]`."""
    return not all(_is_all(part) for part in getattr(index, "elts", [index]))


def _is_all(part: Node) -> bool:
    if isinstance(part, gast.Slice):
        return part.lower is part.upper is part.step is None
    return isinstance(part, gast.Constant) and part.value in (None, ...)


def _settle(order: Block, apart: list[str], facts: Facts) -> None:
    """Note the floors and the doubtful names of a stretch: what divides by a value with a floor is not doubtful."""
    before, known = facts.idioms.doubts, -1
    while known != len(facts.idioms.floors):
        known = len(facts.idioms.floors)
        facts.idioms.doubts = _doubtful_names(order, before, facts)
        note_floors(order, apart, facts)


def _stretches(body: Block) -> list[Block]:
    """Statements in stretches that are settled one after the other: what binds a name anew is in one with the first."""
    found: list[tuple[Block, list[str]]] = []
    bound: dict[str, int] = {}
    for top in body:
        inner = statements([top])
        names = [one for node in inner for one in stores(node)]
        place = min((bound[one] for one in names if one in bound), default=len(found))
        joined = [*found[place:], (inner, names)]
        names = [one for _, held in joined for one in held]
        found[place:] = [([node for nodes, _ in joined for node in nodes], names)]
        bound.update(dict.fromkeys(names, place))
    return [nodes for nodes, _ in found]


def _doubtful_names(order: Block, begun: dict[str, None], facts: Facts) -> dict[str, None]:
    """Names some value of which may be inf or nan, where the arguments are finite that are differentiated."""
    found = dict(begun)
    while True:
        known = len(found)
        for node in order:
            if not _gives_finite(node, facts, found):
                found.update(dict.fromkeys(one for one in stores(node) if one not in facts.values.integers))
        if len(found) == known:
            return found


def _outside_arrays(function: Node, order: Block, facts: Facts) -> list[str]:
    """Arrays that the function takes from outside, and is not differentiated by: data may have gaps."""
    bound = {one for node in order for one in stores(node)}
    data = [p for p in parameters(function) if p not in facts.request.wrt]
    taken = dict.fromkeys(one for node in order for one in loads(node) if one not in bound)
    known = {one: facts.namespace.lookup(one) for one in taken if one not in parameters(function)}
    data += [one for one, held in known.items() if held is not None and type(held.object).__name__ == "ndarray"]
    return [
        one for one in data if facts.kinds.of_names.get(one, UNKNOWN).tag not in _NUMBERS and not _is_whole(one, facts)
    ]


def _is_whole(one: str, facts: Facts) -> bool:
    return one in facts.values.integers or facts.kinds.of_names.get(one, UNKNOWN).dtype == "integer"


def _names_tested_for_nan(order: Block, facts: Facts) -> list[str]:
    """Names that are asked for nan, `np.isnan(t)`, and what t is computed from."""
    made = {bound: node for node in order if isinstance(node, gast.Assign) for bound in stores(node)}
    todo = [one for node in order for part in header(node) for one in _asked_in(part, facts)]
    found: dict[str, None] = {}
    while todo:
        one = todo.pop()
        if one not in found:
            found[one] = None
            todo += loads(made[one]) if one in made else ()
    return list(found)


def _asked_in(tree: Node, facts: Facts) -> list[str]:
    """Names that `np.isnan(x)`, `x == x` or `np.nansum(x)` asks."""
    found: list[str] = []
    for part in find_nodes(tree, gast.Call, gast.Compare):
        if isinstance(part, gast.Call) and part.args:
            function = object_of(part.func, facts)
            rule = rule_of(function)
            if rule is not None and any(op is function for op in rule.asks):
                found += loads(part.args[0])
        elif isinstance(part, gast.Compare) and same_tree(part.left, part.comparators[0]):
            found += loads(part.left)
    return found


def _operation(node: Node, facts: Facts) -> Operation | None:
    return facts.operation_of(node)


def _gives_finite(node: Node, facts: Facts, doubtful: dict[str, None]) -> bool:
    operation = _operation(node, facts)
    if operation is None:
        value = getattr(node, "value", None)
        lengths = getattr(value, "attr", "") in ("size", "shape", "ndim", "dtype")
        return lengths or (not any(one in doubtful for one in loads(node)) and is_finite_quotient(value, facts))
    return operation.kind == "op" and gives_finite(operation, facts, doubtful)


def _adjoints_to_mask(order: Block, facts: Facts) -> dict[str, bool]:
    """Names whose adjoints meet a doubtful factor, or go on to where they do; whether all elements do at once."""
    found = dict.fromkeys(facts.request.handed.gives_masks, True)
    begun = [(node, [one for one in stores(node) if one in facts.activity.active]) for node in order]
    steps = [(bound, not written_names(node), meets_doubt(node, facts), loads(node)) for node, bound in begun if bound]
    while True:
        known = dict(found)
        for bound, whole, meets, read in steps:
            if meets or any(one in found for one in read):
                found.update({one: whole or found.get(one, False) for one in bound})
        if found == known:
            return found


def meets_doubt(node: Node, facts: Facts) -> bool:
    """Whether a line of a statement's derivative may multiply or divide by what is not finite."""
    operation = _operation(node, facts)
    if getattr(node, "value", None) in facts.calls.derived:
        return meets_doubt_in_call(node.value, facts)
    if operation is None or operation.kind != "op":
        return False
    finite = not any(one in facts.idioms.doubts for one in stores(node))
    return not has_finite_lines(operation, facts, facts.idioms.doubts, finite)


def meets_doubt_in_call(call: Node, facts: Facts) -> bool:
    """Whether a line of the derivative of what is called may do so; of a function that calls itself it may."""
    inner: Facts = facts.module.making[facts.calls.derived[call][0]]
    result = inner.calls.output
    return result is None or any(one in inner.idioms.masked for one in loads(result))
