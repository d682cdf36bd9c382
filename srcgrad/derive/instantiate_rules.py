"""Templates instantiated for a call: names substituted, static `if`s decided, lines as a reader would write them.

That is: without defaults, numbers added up, no terms of derivatives that are zero, conjugates and real parts where they
are needed. `x * x` and `x @ x` are operations of one operand, `a * x * x` is a times a square, `x * x * x` a cube.
"""

from __future__ import annotations

import builtins
import inspect
import sys
from collections.abc import Container
from dataclasses import field
from types import FunctionType

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.dtypes import (
    has_sign,
    is_floating,
    may_be_complex,
    note_complex,
    note_integers,
    operand_of_negative,
)
from srcgrad.analysis.shapes import spec_of_tree
from srcgrad.core.facts import Facts, Operation, Spec, copy_with_facts, function_called
from srcgrad.core.identity import holder, record
from srcgrad.core.rules import ParsedTemplate as Template
from srcgrad.core.rules import TemplateAssignment, adjoint_template, derivative_of, rule_of
from srcgrad.core.trees import (
    NOTHING,
    UNDECIDED,
    Block,
    Node,
    assign,
    expression,
    find_nodes,
    literal_node,
    literal_of,
    literal_value,
    name,
    remade,
    same_tree,
    walk,
)
from srcgrad.runtime import opposite
from srcgrad.runtime.contract import self_dot, self_product


def conjugate(node: Node, facts: Facts) -> Node:
    """The conjugate of an expression; what is real stays as it is, `np.conj` stands around names where it can."""
    if not may_be_complex(node, facts):
        return node
    if isinstance(node, gast.Constant):
        return _literal(-node.value)
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        if isinstance(node.operand, gast.Constant):
            return literal_node(node.operand.value)
        return gast.UnaryOp(node.op, conjugate(node.operand, facts))
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult | gast.Div | gast.Add | gast.Sub):
        if may_be_complex(node.left, facts) != may_be_complex(node.right, facts):
            return gast.BinOp(conjugate(node.left, facts), node.op, conjugate(node.right, facts))
    if isinstance(node, gast.Tuple | gast.List):
        return type(node)(elts=[conjugate(item, facts) for item in node.elts], ctx=gast.Load())
    if isinstance(node, gast.Attribute) and node.attr == "T":
        return gast.Attribute(conjugate(node.value, facts), "T", gast.Load())
    if is_conjugate(node, facts):
        inner: Node = node.args[0]
        return inner
    if isinstance(node, gast.Name) and facts.kinds.containers.get(node.id) in ("list", "tuple"):
        return expression(f"{facts.library('conjugates')}(value)", value=node)
    made = expression(f"{facts.library('np')}.conj(value)", value=node)
    facts.values.spec[made] = spec_of_tree(node, facts)
    return made


def _literal(value: complex) -> Node:
    """A complex literal: Python has none that is negative."""
    return gast.UnaryOp(gast.USub(), literal_node(-value)) if value.imag < 0 else literal_node(value)


def is_conjugate(node: Node, facts: Facts) -> bool:
    """Whether a tree is `np.conj(...)`."""
    return function_called(node, facts) is np.conjugate and len(node.args) == 1


def real_part(value: Node, facts: Facts) -> Node:
    """The real part of a contribution to something real; `(g * -1j).real` is `g.imag`."""
    if not may_be_complex(value, facts):
        return value
    part = _without_minus_i(value)
    made = expression("value.real", value=value) if part is None else gast.Attribute(part, "imag", gast.Load())
    facts.values.spec[made] = spec_of_tree(made, facts)
    if value in facts.tape.reduced:
        facts.tape.reduced[made] = None
    return made


def _without_minus_i(value: Node) -> Node | None:
    """`g` of `g * -1j`; None for any other expression."""
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult):
        side = value.right
        if isinstance(side, gast.UnaryOp) and isinstance(side.op, gast.USub):
            if isinstance(side.operand, gast.Constant) and side.operand.value == 1j:
                return value.left
    return None


def places(function: object, call: Node) -> list[bool]:
    """For each argument of a call in a template, keywords last, whether the call is conjugated through it."""
    rule = rule_of(function)
    template = None if rule is None or rule.kind == "constant" else adjoint_template(rule)
    if template is None:
        return [False] * (len(call.args) + len(call.keywords))
    names = [*template.positional[: len(call.args)], *(word.arg for word in call.keywords)]
    return [name in template.differentiable for name in names]


def carries(node: Node, carrying: set[str]) -> bool:
    """Whether an expression of a template holds a derivative."""
    return any(derivative_of(n) is not None or (isinstance(n, gast.Name) and n.id in carrying) for n in walk(node))


def carrying_parts(part: Node, node: Node, namespace: dict[str, object], carrying: set[str] | None) -> set[str] | None:
    """As `carrying`; None for parts of a call of which no conjugate is taken: its function, a shape, an index."""
    if carrying is None or not isinstance(node, gast.Call):
        return carrying
    if part is node.func:
        return None
    chosen = places(_meaning(node.func, namespace), node)
    return carrying if chosen[[*node.args, *node.keywords].index(part)] else None


def _meaning(node: Node, namespace: dict[str, object]) -> object:
    """The function that a dotted name of a template means."""
    if isinstance(node, gast.Attribute):
        return getattr(_meaning(node.value, namespace), node.attr, None)
    return namespace.get(getattr(node, "id", ""))


@record
class ZeroDerivatives:
    """Names that stand for derivatives that are zero, with the value to which each belongs; and those that are not."""

    zeros: dict[str, Node | None] = field(default_factory=dict)
    carriers: dict[str, None] = field(default_factory=dict)


def prune_zero_terms(value: Node, lost: ZeroDerivatives, facts: Facts) -> Node | None:
    """A linear expression without the terms of derivatives that are zero; None if nothing is left."""
    if isinstance(value, gast.Name):
        return None if value.id in lost.zeros else value
    if not mentions(value, lost.zeros):
        return value
    if isinstance(value, gast.BinOp):
        return _operation(value, lost, facts)
    if isinstance(value, gast.Call):
        return _call(value, lost, facts)
    if isinstance(value, gast.Tuple):
        return _tuple(value, lost, facts)
    if isinstance(value, gast.UnaryOp):
        inner = prune_zero_terms(value.operand, lost, facts)
        value.operand = value.operand if inner is None else inner
        return None if inner is None else value
    if isinstance(value, gast.Subscript | gast.Attribute):
        inner = prune_zero_terms(value.value, lost, facts)
        value.value = value.value if inner is None else inner
        return None if inner is None else value
    raise AssertionError("a line of a rule is made of sums, products, calls, subscripts and attributes")


def _tuple(value: Node, lost: ZeroDerivatives, facts: Facts) -> Node | None:
    """The tangents that a rule takes, zeros in the places of those that are zero."""
    kept = [prune_zero_terms(part, lost, facts) for part in value.elts]
    if not any(kept):
        return None
    return gast.Tuple(elts=_fill_with_zeros(value.elts, kept, lost, facts), ctx=gast.Load())


def _fill_with_zeros(parts: list[Node], kept: list[Node | None], lost: ZeroDerivatives, facts: Facts) -> list[Node]:
    """What is left of each part, zeros in the places of those that are zero."""
    return [
        expression(f"{facts.library('zeros_like')}(x)", x=_primal_of(old, lost, facts)) if new is None else new
        for old, new in zip(parts, kept, strict=True)
    ]


def _operation(value: Node, lost: ZeroDerivatives, facts: Facts) -> Node | None:
    left, right = prune_zero_terms(value.left, lost, facts), prune_zero_terms(value.right, lost, facts)
    if isinstance(value.op, gast.Add | gast.Sub):
        if left is None:
            return right if right is None or isinstance(value.op, gast.Add) else gast.UnaryOp(gast.USub(), right)
        if right is None:
            return left
    elif left is None or right is None:
        return None
    return gast.BinOp(left, value.op, right)


def _call(value: Node, lost: ZeroDerivatives, facts: Facts) -> Node | None:
    """A call is linear in the arguments that hold derivatives: zero if all of these are."""
    parts = [*value.args, *(word.value for word in value.keywords)]
    kept = [prune_zero_terms(copy_with_facts(part, facts), lost, facts) for part in parts]
    if None in kept and not any(k is not None and mentions(k, lost.carriers) for k in kept):
        return None
    filled = _fill_with_zeros(parts, kept, lost, facts)
    value.args = filled[: len(value.args)]
    for word, argument in zip(value.keywords, filled[len(value.args) :], strict=True):
        word.value = argument
    return value


def _primal_of(part: Node, lost: ZeroDerivatives, facts: Facts) -> Node:
    """The value whose derivative is zero."""
    found = next(n.id for n in find_nodes(part, gast.Name) if n.id in lost.zeros)
    zero = lost.zeros[found]
    assert zero is not None, "a rule adds what it computes of derivatives by `+`"
    return copy_with_facts(zero, facts)


def mentions(value: Node, names: Container[str]) -> bool:
    """Whether an expression reads one of some names."""
    return any(isinstance(n, gast.Name) and n.id in names for n in walk(value))


def spread_arguments(call: Node) -> None:
    """`g(*xs)` with the arguments that `xs` stands for."""
    for item in [each for each in call.args if isinstance(each, gast.Starred)]:
        place = call.args.index(item)
        call.args[place : place + 1] = item.value.elts


def drop_defaults(call: Node, function: object) -> None:
    """Leave out the last arguments of a call of a helper where they are its defaults: `share(g, a, y, 1, False)`."""
    if not isinstance(function, FunctionType):
        return
    if call.keywords:
        _drop_named(call, function, "srcgrad.runtime")
        return
    if not call.args or not isinstance(call.args[-1], gast.Constant):
        return
    parameters = list(inspect.signature(function).parameters.values())
    while 0 < len(call.args) <= len(parameters) and isinstance(call.args[-1], gast.Constant):
        default = parameters[len(call.args) - 1].default
        if type(default) is not type(call.args[-1].value) or default != call.args[-1].value:
            return
        call.args.pop()


def drop_keywords(call: Node, function: object) -> None:
    """Leave out what a call of a function of SciPy names at its default: `unit_diagonal=False`."""
    if isinstance(function, FunctionType):
        _drop_named(call, function, "scipy")


def _drop_named(call: Node, function: FunctionType, package: str) -> None:
    if not call.keywords or not function.__module__.startswith(f"{package}."):
        return
    defaults = {p.name: p.default for p in inspect.signature(function).parameters.values()}
    call.keywords = [
        word
        for word in call.keywords
        if not (
            isinstance(word.value, gast.Constant) and _is_same(word.value.value, defaults.get(str(word.arg), function))
        )
    ]


def _is_same(value: object, default: object) -> bool:
    return type(value) is type(default) and value == default


def fold_numbers(node: Node) -> Node:
    """A sum or difference of two numbers as one: `3 - 1`, the exponent in the derivative of `x ** 3`, is 2.

    The negative of a number is a number: what `np.roll(x, -1)` has moved is moved back by 1, not by `--1`.
    """
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Add | gast.Sub):
        left, right = literal_of(node.left), literal_of(node.right)
        if isinstance(left, int | float) and isinstance(right, int | float):
            total = left + right if isinstance(node.op, gast.Add) else left - right
            return literal_node(total) if total == round(total, 9) else node  # 1.1 - 1 would print its rounding
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        return _opposite(node.operand) or node
    if isinstance(node, gast.Call) and getattr(node.func, "attr", "") == "negative" and len(node.args) == 1:
        return _opposite(node.args[0]) or node
    if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Tuple):  # `(c, True)[0]`
        place = literal_of(node.slice)
        return node.value.elts[place] if isinstance(place, int) else node
    return node


def _opposite(node: Node) -> Node | None:
    """The negative of a literal, or a tuple of them, as a literal; None for what is none, or takes no shorter one."""
    if isinstance(node, gast.Tuple):
        made = [_opposite(item) for item in node.elts]
        return None if None in made else gast.Tuple(made, gast.Load())
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub) and isinstance(node.operand, gast.Constant):
        return node.operand
    if isinstance(node, gast.Constant) and type(node.value) is int:
        return gast.UnaryOp(gast.USub(), node) if node.value else node
    return None


_ITSELF = {np.multiply: np.square, np.matmul: self_product, np.dot: self_dot, np.inner: self_dot, np.vdot: self_dot}


def square_operation(operation: Operation, facts: Facts) -> Operation:
    """A product of a value with itself as an operation of one operand: two equal terms are one.

    Of `np.inner` and `np.vdot` that holds for vectors; of complex values for `x * x` alone.
    """
    own = None if operation.function is None else _ITSELF.get(operation.function)
    if own is None or len(operation.bound) != 2:
        return operation
    one, two = operation.bound.values()
    if not isinstance(one, gast.Name) or not same_tree(one, two):
        return operation
    if own is not np.square and one.id in facts.values.complex:
        return operation
    if operation.function in (np.inner, np.vdot) and facts.values.value_spec.get(one.id, Spec(ndim=None)).ndim != 1:
        return operation
    return Operation("op", own, rule_of(own), {"x": one})


def scaled_square(operation: Operation, node: Node, read: Node, facts: Facts) -> list[tuple[Node, Node]]:
    """What `t * x` contributes to a and x, where the same line says `t = a * x`; nothing for any other operation.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> print(explain_text("def f(x):\\n    return 0.5 * x * x", after="simplify").splitlines()[-2])
    x_bar = y_bar * x
    """
    factors = _factors(operation)
    whole, x = factors or (None, None)
    if not isinstance(whole, gast.Name) or not isinstance(x, gast.Name) or whole.id not in facts.names.temporaries:
        return []
    definition = facts.activity.definition.get(whole.id)
    user = facts.origin.user.get(node)
    inner = _factors(facts.operation_of(definition))
    if (
        inner is None
        or user is None
        or definition is None
        or facts.origin.user.get(definition) is not user
        or whole.id in facts.values.complex
    ):
        return []
    others = [one for one in inner if getattr(one, "id", None) != x.id]
    if not others:
        return [(copy_with_facts(x, facts), _product(read, literal_node(3.0), copy_with_facts(whole, facts)))]
    if len(others) > 1:
        return []
    scale = others[0]
    if isinstance(scale, gast.Constant):
        twice = literal_node(2.0 * scale.value)
        own = copy_with_facts(x, facts)
        value = gast.BinOp(read, gast.Mult(), own) if twice.value == 1.0 else _product(read, twice, own)
        return [(copy_with_facts(x, facts), value)]
    return [
        (
            copy_with_facts(scale, facts),
            _product(copy_with_facts(read, facts), copy_with_facts(x, facts), copy_with_facts(x, facts)),
        ),
        (copy_with_facts(x, facts), _product(read, literal_node(2.0), copy_with_facts(whole, facts))),
    ]


def _factors(operation: Operation | None) -> tuple[Node, Node] | None:
    """The two factors of a product of names and numbers."""
    if operation is None or operation.function is not np.multiply or len(operation.bound) != 2:
        return None
    one, two = operation.bound.values()
    fits = all(isinstance(n, gast.Name) or (isinstance(n, gast.Constant) and _is_real(n.value)) for n in (one, two))
    return (one, two) if fits else None


def _is_real(value: object) -> bool:
    return type(value) in (int, float)


def _product(one: Node, two: Node, three: Node) -> Node:
    return expression("one * two * three", one=one, two=two, three=three)


@record(frozen=True)
class Setting:
    """What the names of a template stand for in one call."""

    template: Template
    operation: Operation
    facts: Facts
    result: str
    spec: Spec
    derivatives: dict[str, Node]  # parameter or result -> tree of its adjoint or tangent
    general: bool = False  # whether to take the lines that hold for any ranks
    lost: ZeroDerivatives = field(default_factory=ZeroDerivatives)  # names among the derivatives that stand for zeros
    parts: tuple[str, ...] = ()  # the names to which several results are bound; else the result has one name
    part_derivatives: tuple[Node, ...] = ()  # ... and their adjoints
    conjugate: bool = False  # whether to conjugate what the derivatives are multiplied with


def truth(test: Node, setting: Setting) -> bool | None:
    """The value of a template's test, from literals and known ranks; None where it cannot be decided.

    `and` and `or` are decided as soon as one side decides them.
    """
    if isinstance(test, gast.BoolOp):
        sides = [truth(value, setting) for value in test.values]
        decisive = isinstance(test.op, gast.Or)
        if decisive in sides:
            return decisive
        return None if None in sides else not decisive
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        inner = truth(test.operand, setting)
        return None if inner is None else not inner
    if isinstance(test, gast.Compare) and len(test.ops) == 1:
        one, two = value_of(test.left, setting), value_of(test.comparators[0], setting)
        if one is UNDECIDED or two is UNDECIDED:
            return None
        return _compare(test.ops[0], one, two)
    value = value_of(test, setting)
    return None if value is UNDECIDED else bool(value)


def _compare(op: Node, one: object, two: object) -> bool | None:
    if isinstance(op, gast.Is | gast.IsNot):
        return (one is two) == isinstance(op, gast.Is)
    if isinstance(op, gast.Eq | gast.NotEq):
        return bool(one == two) == isinstance(op, gast.Eq)
    if isinstance(op, gast.In | gast.NotIn) and isinstance(two, tuple | list):
        return (one in two) == isinstance(op, gast.In)
    if isinstance(one, int | float) and isinstance(two, int | float):
        order: dict[type[Node], bool] = {
            gast.Lt: one < two,
            gast.LtE: one <= two,
            gast.Gt: one > two,
            gast.GtE: one >= two,
        }
        return order.get(type(op))
    return None


def value_of(node: Node, setting: Setting) -> object:
    """The value of a literal, of a parameter bound to a literal, or of `np.ndim(parameter)`."""
    if isinstance(node, gast.Name) and node.id in setting.template.parameters:
        bound = setting.operation.bound.get(node.id, setting.template.defaults.get(node.id))
        return UNDECIDED if bound is None else literal_of(bound)
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr == "iscomplexobj":
        return _is_complex(node.args[0].id, setting)
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr == "ndim":
        if setting.general:
            return UNDECIDED
        argument = node.args[0]
        if isinstance(argument, gast.Name) and argument.id == setting.template.result:
            return UNDECIDED if setting.spec.ndim is None else setting.spec.ndim
        bound = setting.operation.bound.get(argument.id) if isinstance(argument, gast.Name) else None
        rank = None if bound is None else rank_of(bound, setting.facts)
        return UNDECIDED if rank is None else rank
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mod):
        one, two = value_of(node.left, setting), value_of(node.right, setting)
        return one % two if isinstance(one, int | float) and isinstance(two, int | float) else UNDECIDED
    return literal_of(node)


def _is_complex(name: str, setting: Setting) -> bool:
    """Whether an argument, or the result, may be complex."""
    argument = setting.operation.bound.get(name)
    if name == setting.template.result:
        rule = setting.operation.rule
        return (rule is not None and rule.values == "complex") or any(
            may_be_complex(part, setting.facts) for part in setting.operation.bound.values()
        )
    return argument is not None and may_be_complex(argument, setting.facts)


def rank_of(node: Node, facts: Facts) -> int | None:
    """The rank of an operand, where it is known."""
    if isinstance(node, gast.Constant) and isinstance(node.value, int | float | complex):
        return 0
    spec = facts.values.spec.get(node)
    return None if spec is None else spec.ndim


@record(frozen=True)
class Line:
    """One line of an instantiated template: the derivative that belongs to `parameter` gets `value`."""

    parameter: str
    value: Node


@record
class Lines:
    """What a template says about one call: shared work first, then the lines."""

    shared: Block = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)


def instantiate(setting: Setting, wanted: frozenset[str]) -> Lines:
    """The lines of the template for the parameters in `wanted` (for a tangent template: for the result)."""
    chosen = chosen_assignments(setting.template.body, setting)
    made = Lines()
    local: dict[str, Node] = {}
    carrying: set[str] = set()  # local names that hold a derivative
    lost = setting.lost
    for tree in [*setting.derivatives.values(), *setting.part_derivatives]:
        lost.carriers.update({n.id: None for n in find_nodes(tree, gast.Name) if n.id not in lost.zeros})
    uses = _local_uses([setting.template.spelled[node] for node in chosen], wanted)
    for node in chosen:
        belongs = setting.template.spelled[node].belongs
        if isinstance(node.targets[0], gast.Tuple):
            _bind_results(node, setting, local, uses, made)
        elif belongs is None:
            bound = node.targets[0].id
            if uses.get(bound, 0) == 0:
                continue
            value = prune_zero_terms(
                fill(node.value, setting, local, _where(node, setting, carrying)), lost, setting.facts
            )
            if value is None:
                local[bound] = name(f"d_{bound}")
                lost.zeros[f"d_{bound}"] = None
            elif uses[bound] == 1 or isinstance(value, gast.Name | gast.Constant):
                local[bound] = value
            else:
                local[bound] = _name_shared_value(value, made, setting)
        elif belongs in wanted:
            value = _line(fill(node.value, setting, local, _where(node, setting, carrying)), setting)
            if value is not None:
                made.lines.append(Line(belongs, value))
    return made


def _where(node: Node, setting: Setting, carrying: set[str]) -> set[str] | None:
    """Where conjugates are to be put: the local names that carry a derivative; None for nowhere."""
    if not setting.conjugate or not carries(node.value, carrying):
        return None  # what carries none is conjugated where it is used
    carrying.update(n.id for n in node.targets if isinstance(n, gast.Name))
    return carrying


def _bind_results(node: Node, setting: Setting, local: dict[str, Node], uses: dict[str, int], made: Lines) -> None:
    """`u, s, vt = np.linalg.svd(a)` in a template: the names stay, as far as they are free."""
    facts = setting.facts
    names = [item.id for item in node.targets[0].elts]
    if not any(uses.get(one) for one in names):
        return
    targets = gast.Tuple(elts=[], ctx=gast.Store())
    for one in names:
        held = facts.names.fresh(one) if uses.get(one) else facts.unused_name
        if uses.get(one):
            facts.names.temporaries[held] = one
            local[one] = name(held)
        targets.elts.append(name(held, gast.Store()))
    value = prune_zero_terms(fill(node.value, setting, local), setting.lost, facts)
    if value is None:
        local.update({one: name(f"d_{one}") for one in names})
        setting.lost.zeros.update({f"d_{one}": None for one in names})
        return
    made.shared.append(gast.Assign([targets], value, None))
    if mentions(value, setting.lost.carriers):
        setting.lost.carriers.update({one.id: None for one in targets.elts})


def _name_shared_value(value: Node, made: Lines, setting: Setting) -> Node:
    """The name of a value that several lines read."""
    facts = setting.facts
    held = facts.names.new_temporary()
    made.shared.append(assign(held, value))
    read = name(held)
    facts.values.spec[read] = spec_of_tree(value, facts)
    note_complex(held, value, facts)
    if mentions(value, setting.lost.carriers):
        setting.lost.carriers[held] = None
    else:
        note_integers(held, value, facts)
    return read


def _line(value: Node, setting: Setting) -> Node | None:
    """The value of a line, without what is zero; of a tuple of tangents, each by itself."""
    if not isinstance(value, gast.Tuple):
        return prune_zero_terms(value, setting.lost, setting.facts)
    parts = [prune_zero_terms(part, setting.lost, setting.facts) for part in value.elts]
    if all(part is None for part in parts):
        return None
    if setting.parts:
        value.elts = [NOTHING if part is None else part for part in parts]
        return value
    zeros = setting.facts.library("zeros_like")
    value.elts = [
        expression(f"{zeros}({setting.result}[{k}])") if part is None else part for k, part in enumerate(parts)
    ]
    return value


def _local_uses(chosen: list[TemplateAssignment], wanted: frozenset[str]) -> dict[str, int]:
    """How often each local name of the template is read by lines that are wanted."""
    uses: dict[str, int] = {}
    for line in reversed(chosen):
        if line.belongs in wanted if line.belongs is not None else any(uses.get(one) for one in line.binds):
            for read in line.reads:
                uses[read] = uses.get(read, 0) + 1
    return uses


def chosen_assignments(body: tuple[Node, ...] | list[Node], setting: Setting) -> list[Node]:
    """The assignments that hold for this call: each `if` taken, passed by, or left to its `else`."""
    chosen = []
    for node in body:
        if isinstance(node, gast.If):
            chosen += chosen_assignments(node.body if truth(node.test, setting) else node.orelse, setting)
        elif isinstance(node, gast.Assign):
            chosen.append(node)
    return chosen


def fill(node: Node, setting: Setting, local: dict[str, Node], carrying: set[str] | None = None) -> Node:
    """A template expression with its names replaced by what they stand for in this call.

    With `carrying`, the local names that hold a derivative, all that holds none is conjugated.
    """
    if carrying is not None and not carries(node, carrying):
        return conjugate(fill(node, setting, local), setting.facts)
    part = _part(node, setting) if setting.parts else None
    if part is not None:
        return part
    belongs = derivative_of(node)
    if belongs is not None:
        return copy_with_facts(setting.derivatives[belongs], setting.facts)
    if isinstance(node, gast.Name):
        return _fill_in_name(node, setting, local)
    namespace = setting.template.namespace
    made = remade(node, lambda part: fill(part, setting, local, carrying_parts(part, node, namespace, carrying)))
    if isinstance(node, gast.Call):  # the usual norm is not spelled
        made.keywords = [w for w in made.keywords if w.arg != "norm" or literal_of(w.value) != "backward"]
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Name):
        if node.func.id == opposite.__name__ and all(literal_of(argument) is not UNDECIDED for argument in made.args):
            return literal_node(opposite(*map(literal_value, made.args)))
        spread_arguments(made)
        drop_defaults(made, setting.template.namespace.get(node.func.id))
    if isinstance(node, gast.Attribute) and node.attr == "T" and rank_of(made.value, setting.facts) == 0:
        rank_0: Node = made.value  # it may be a number, which has no `.T`
        return rank_0
    if isinstance(node, gast.Attribute) and node.attr == "mT" and rank_of(made.value, setting.facts) == 2:
        made.attr = "T"
    if isinstance(node, gast.Attribute) and node.attr == "T" and getattr(made.value, "attr", "") == "T":
        whole: Node = made.value.value
        return whole
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and isinstance(node.func.value, gast.Name):
        if holder(setting.template.namespace.get(node.func.value.id)) is not None:
            while made.args and _at_default(node.args[len(made.args) - 1], setting):
                made.args.pop()  # loc and scale of a distribution
        drop_keywords(made, getattr(setting.template.namespace.get(node.func.value.id), node.func.attr, None))
    return _without_defaults(node, made, setting) or _known_float(made, setting.facts) or fold_numbers(made)


def _known_float(made: Node, facts: Facts) -> Node | None:
    """`x` for `1.0 * x`, a float for what may be a small integer, where it is known to be one."""
    if isinstance(made, gast.BinOp) and isinstance(made.op, gast.Mult) and literal_of(made.left) == 1.0:
        return made.right if is_floating(made.right, facts) else None
    return None


def _at_default(node: Node, setting: Setting) -> bool:
    """Whether a template's tree is a parameter that the call leaves at its default."""
    named = isinstance(node, gast.Name) and node.id in setting.template.defaults
    return named and node.id not in setting.operation.bound


def _without_defaults(node: Node, made: Node, setting: Setting) -> Node | None:
    """`x` for `(x - loc) / scale` where the call leaves these at their defaults, 0.0 and 1.0; `-x` for `sign * x`."""
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult) and isinstance(node.left, gast.Name):
        sign = setting.template.namespace.get(node.left.id)
        if isinstance(sign, float) and abs(sign) == 1.0:
            minus = operand_of_negative(made.right, setting.facts)
            if sign == 1.0 or minus is not None:
                return made.right if sign == 1.0 else minus
            return gast.UnaryOp(gast.USub(), made.right) if has_sign(made.right, setting.facts) else None
    if not isinstance(node, gast.BinOp) or not _at_default(node.right, setting):
        return None
    neutral = 0.0 if isinstance(node.op, gast.Sub) else 1.0
    drop = isinstance(node.op, gast.Sub | gast.Div) and getattr(made.right, "value", None) == neutral
    return made.left if drop else None


def _part(node: Node, setting: Setting) -> Node | None:
    """What `z[0]` and `d[z][0]` stand for where each result has a name of its own."""
    if not isinstance(node, gast.Subscript) or not isinstance(node.slice, gast.Constant):
        return None
    if derivative_of(node.value) == setting.template.result:
        return copy_with_facts(setting.part_derivatives[node.slice.value], setting.facts)
    if not (isinstance(node.value, gast.Name) and node.value.id == setting.template.result):
        return None
    made = name(setting.parts[node.slice.value])
    spec = setting.facts.values.value_spec.get(made.id)
    if spec is not None:
        setting.facts.values.spec[made] = spec
    setting.facts.resolution.results[made] = None
    return made


def _spell_object(held: tuple[str, str], value: object, facts: Facts) -> Node:
    """`norm`, an object of `scipy.stats`, as the user calls it; else by way of its module."""
    module, known = held
    meant = facts.namespace.lookup(known) if known not in facts.names.local else None
    if meant is not None and meant.object is value:
        return name(known)
    package = module.rpartition(".")[2]
    return expression(f"{facts.library(package, sys.modules[module])}.{known}")


def _fill_in_name(node: Node, setting: Setting, local: dict[str, Node]) -> Node:
    template, facts = setting.template, setting.facts
    if node.id in local:
        return copy_with_facts(local[node.id], facts)
    if node.id == template.result:
        made = name(setting.result)
        facts.values.spec[made] = setting.spec
        facts.resolution.results[made] = None
        return made
    if node.id in setting.operation.bound:
        return copy_with_facts(setting.operation.bound[node.id], facts)
    if node.id in template.parameters:
        return copy_with_facts(template.defaults.get(node.id) or literal_node(None), facts)
    value = template.namespace.get(node.id, getattr(builtins, node.id, None))
    if isinstance(value, int | float):
        return literal_node(value)
    if (held := holder(value)) is not None:
        return _spell_object(held, value, facts)
    if value is None and node.id != "np" and not hasattr(runtime, node.id):
        message = f"nothing binds the name `{node.id}`, which the rule reads"
        at = next(iter(setting.operation.bound.values()))
        raise facts.refuse(at, "E5012", message, f"import or define `{node.id}` in the module of the rule")
    return name(facts.library(node.id, value))
