"""Conjugates and real parts in lines of templates, put where a reader would write them."""

from __future__ import annotations

from typing import Any  # operations are arbitrary Python objects

import gast

from srcgrad.analyse.adjoint_shapes import spec_of_tree
from srcgrad.analyse.complexes import may_be_complex
from srcgrad.facts import Facts
from srcgrad.rules import rule_of
from srcgrad.template import adjoint_template, derivative_of
from srcgrad.trees import Node, constant, expression, walk


def conjugated(node: Node, facts: Facts) -> Node:
    """The conjugate of an expression; what is real stays as it is, `np.conj` stands around names where it can."""
    if not may_be_complex(node, facts):
        return node
    if isinstance(node, gast.Constant):
        return _literal(-node.value)
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        if isinstance(node.operand, gast.Constant):
            return constant(node.operand.value)
        return gast.UnaryOp(node.op, conjugated(node.operand, facts))
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult | gast.Div | gast.Add | gast.Sub):
        if may_be_complex(node.left, facts) != may_be_complex(node.right, facts):
            return gast.BinOp(conjugated(node.left, facts), node.op, conjugated(node.right, facts))
    if isinstance(node, gast.Tuple | gast.List):
        return type(node)(elts=[conjugated(item, facts) for item in node.elts], ctx=gast.Load())
    if isinstance(node, gast.Attribute) and node.attr == "T":
        return gast.Attribute(conjugated(node.value, facts), "T", gast.Load())
    if is_conjugate(node, facts):
        return node.args[0]
    if isinstance(node, gast.Name) and facts.containers.get(node.id) in ("list", "tuple"):
        return expression(f"{facts.library('conjugates')}(value)", value=node)
    made = expression(f"{facts.library('np')}.conj(value)", value=node)
    facts.spec[made] = spec_of_tree(node, facts)
    return made


def _literal(value: complex) -> Node:
    """A complex literal: Python has none that is negative."""
    return gast.UnaryOp(gast.USub(), constant(-value)) if value.imag < 0 else constant(value)


def is_conjugate(node: Node, facts: Facts) -> bool:
    """Whether a tree is `np.conj(...)`."""
    return (
        isinstance(node, gast.Call)
        and isinstance(node.func, gast.Attribute)
        and node.func.attr in ("conj", "conjugate")
        and isinstance(node.func.value, gast.Name)
        and node.func.value.id == facts.imports.get("np", "np")
        and len(node.args) == 1
    )


def real_part(value: Node, facts: Facts) -> Node:
    """The real part of a contribution to something real; `(g * -1j).real` is `g.imag`."""
    if not may_be_complex(value, facts):
        return value
    part = _turned(value)
    made = expression("value.real", value=value) if part is None else gast.Attribute(part, "imag", gast.Load())
    facts.spec[made] = spec_of_tree(made, facts)
    if value in facts.reduced:
        facts.reduced[made] = None
    return made


def _turned(value: Node) -> Node | None:
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


def below(part: Node, node: Node, namespace: dict[str, Any], carrying: set[str] | None) -> set[str] | None:
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
