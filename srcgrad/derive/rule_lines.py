"""Lines of templates as a reader would write them.

Conjugates and real parts in lines of templates, put where a reader would write them.

Linear expressions without the terms of derivatives that are zero.

Calls and sums of templates as a reader would write them: without defaults, with the numbers added up.

Squares: `x * x` and `x @ x` are operations of one operand, `a * x * x` is a times a square, `x * x * x` a cube.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any  # operations are arbitrary Python objects

import gast
import numpy as np

from srcgrad.analysis.complex_numbers import may_be_complex
from srcgrad.analysis.shape_rules import spec_of_tree
from srcgrad.core.expressions import literal_of
from srcgrad.core.facts import Facts, Operation, Spec, copy_with_facts
from srcgrad.core.meanings import function_called
from srcgrad.core.rules import adjoint_template, derivative_of, rule_of
from srcgrad.core.trees import Node, expression, literal_node, same_tree, walk
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
        return node.args[0]
    if isinstance(node, gast.Name) and facts.containers.get(node.id) in ("list", "tuple"):
        return expression(f"{facts.library('conjugates')}(value)", value=node)
    made = expression(f"{facts.library('np')}.conj(value)", value=node)
    facts.spec[made] = spec_of_tree(node, facts)
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
    facts.spec[made] = spec_of_tree(made, facts)
    if value in facts.reduced:
        facts.reduced[made] = None
    return made


def _without_minus_i(value: Node) -> Node | None:
    """`g` of `g * -1j`; None for any other expression."""
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult):
        side = value.right
        if isinstance(side, gast.UnaryOp) and isinstance(side.op, gast.USub):
            if isinstance(side.operand, gast.Constant) and side.operand.value == 1j:
                return value.left
    return None


def places(function: Any, call: Node) -> list[bool]:
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


def carrying_parts(part: Node, node: Node, namespace: dict[str, Any], carrying: set[str] | None) -> set[str] | None:
    """As `carrying`; None for parts of a call of which no conjugate is taken: its function, a shape, an index."""
    if carrying is None or not isinstance(node, gast.Call):
        return carrying
    if part is node.func:
        return None
    chosen = places(_meaning(node.func, namespace), node)
    return carrying if chosen[[*node.args, *node.keywords].index(part)] else None


def _meaning(node: Node, namespace: dict[str, Any]) -> Any:
    """The function that a dotted name of a template means."""
    if isinstance(node, gast.Attribute):
        return getattr(_meaning(node.value, namespace), node.attr, None)
    return namespace.get(getattr(node, "id", ""))


@dataclass
class ZeroDerivatives:
    """Names that stand for derivatives that are zero, with the value to which each belongs; and those that are not."""

    zeros: dict[str, Node] = field(default_factory=dict)
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
        value.operand = inner = prune_zero_terms(value.operand, lost, facts)
        return None if inner is None else value
    if isinstance(value, gast.Subscript | gast.Attribute):
        value.value = inner = prune_zero_terms(value.value, lost, facts)
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
    found = next(n.id for n in walk(part) if isinstance(n, gast.Name) and n.id in lost.zeros)
    assert lost.zeros[found] is not None, "a rule adds what it computes of derivatives by `+`"
    return copy_with_facts(lost.zeros[found], facts)


def mentions(value: Node, names: dict[str, Node] | dict[str, None]) -> bool:
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
        if not (isinstance(word.value, gast.Constant) and _is_same(word.value.value, defaults.get(word.arg, function)))
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
    if own is not np.square and one.id in facts.complex:
        return operation
    if operation.function in (np.inner, np.vdot) and facts.value_spec.get(one.id, Spec(ndim=None)).ndim != 1:
        return operation
    return Operation("op", own, rule_of(own), {"x": one})


def scaled_square(operation: Operation, node: Node, read: Node, facts: Facts) -> list[tuple[Node, Node]]:
    """What `t * x` contributes to a and x, where the same line says `t = a * x`; nothing for any other operation.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> print(explain_text("def f(x):\\n    return 0.5 * x * x", after="factors").splitlines()[-2])
    x_bar = y_bar * x
    """
    factors = _factors(operation)
    whole, x = factors or (None, None)
    if not isinstance(whole, gast.Name) or not isinstance(x, gast.Name) or whole.id not in facts.temporaries:
        return []
    definition = facts.definition.get(whole.id)
    user = facts.origin.get(node)
    inner = _factors(facts.operation.get(getattr(definition, "value", None)))
    if inner is None or user is None or facts.origin.get(definition) is not user or whole.id in facts.complex:
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
