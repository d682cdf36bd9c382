"""What a derivative inside of a function is taken with respect to: a value that may hold integers is looked at."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts
from srcgrad.front.namespace import Binding
from srcgrad.front.resolve import binding_of
from srcgrad.front.varied import reads_varied
from srcgrad.front.written_out import Site
from srcgrad.runtime import check_input
from srcgrad.trees import BLOCKS, Block, Node, assign, at, copy, name, statement


def looked_at(node: Node, stem: str, where: Node, before: Block, site: Site) -> Node:
    """An argument with respect to which a derivative is taken; the statement that looks at it goes to `before`.

    The text of the derivative takes it for a floating number, whose negative is `-w`. An expression that depends on
    no differentiated input gets a name first.
    """
    if isinstance(node, gast.Constant | gast.Tuple | gast.List | gast.Dict | gast.Starred | gast.Lambda):
        return node
    if not _base(node):
        known = site.varied is not None and reads_varied(node, dict.fromkeys(site.varied), site.facts, site.local)
        if known or _is_float(node):
            return node
        held = site.facts.names.fresh(stem)
        before += site.expanded([at(assign(held, node), where)], site)
        node = at(name(held), node)
    spelled = site.alias("check_input", Binding("object", check_input))
    check = at(statement(f"{spelled}(x)", x=copy(node)), where)
    site.facts.foreign[check] = None
    before.append(check)
    return node


def _base(node: Node) -> str:
    """The name of which an expression is a part, or which it is; empty for any other expression."""
    while isinstance(node, gast.Subscript | gast.Attribute):
        node = node.value
    return node.id if isinstance(node, gast.Name) else ""


def _is_float(node: Node) -> bool:
    """Whether the operators of an expression make it one of floats: a division, a literal among its operands."""
    if isinstance(node, gast.UnaryOp):
        return _is_float(node.operand)
    if isinstance(node, gast.BinOp):
        return isinstance(node.op, gast.Div) or _is_float(node.left) or _is_float(node.right)
    return isinstance(node, gast.Constant) and isinstance(node.value, float | complex)


def without_checks(block: Block, facts: Facts) -> Block:
    """A block without looks at what depends on a differentiated input: that holds floating numbers."""
    made: Block = []
    for node in block:
        for which in BLOCKS:
            if getattr(node, which, None):
                setattr(node, which, without_checks(getattr(node, which), facts))
        if not (node in facts.effects and _looks_at(node.value, facts)):
            made.append(node)
    return made


def _looks_at(call: Node, facts: Facts) -> bool:
    found = binding_of(call.func, facts, facts.local) if call.args else None
    if found is None or found.kind != "object" or found.object is not check_input:
        return False
    return _base(call.args[0]) in facts.varied
