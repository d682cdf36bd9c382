"""Functions of numbers: `math.cos(x)` in compiled code, where `np.cos(x)` of a number takes several times as long."""

from __future__ import annotations

import math

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.trees import Node, header, name, statements, walk

PLAIN = {
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "exp": "exp",
    "log": "log",
    "sqrt": "sqrt",
    "tanh": "tanh",
    "sinh": "sinh",
    "cosh": "cosh",
    "arctan": "atan",
}


def scalars(program: Program, facts: Facts) -> Program:
    """Spell functions of what is known to be a real number as those of `math`, and `np.divide(x, y)` as `x / y`."""
    for node in [*statements([*program.forward, *program.backward]), program.result]:
        for part in header(node):
            for item in list(walk(part)):
                _respell(item, facts)
    return program


def _respell(item: Node, facts: Facts) -> None:
    for key, child in gast.iter_fields(item):
        if isinstance(child, list):
            child[:] = [_division(one, facts) for one in child]
        elif isinstance(child, gast.Call):
            setattr(item, key, _division(child, facts))
    if not isinstance(item, gast.Call) or item.keywords or len(item.args) != 1:
        return
    plain = PLAIN.get(_of_numpy(item, facts))
    if plain is not None and is_number(item.args[0], facts):
        item.func = gast.Attribute(value=name(facts.library("math", math)), attr=plain, ctx=gast.Load())


def _of_numpy(call: Node, facts: Facts) -> str:
    """The name of the function of NumPy that is called; an empty string for any other."""
    function = call.func
    if not isinstance(function, gast.Attribute) or not isinstance(function.value, gast.Name):
        return ""
    return str(function.attr) if function.value.id == facts.imports.get("np") else ""


def _division(node: Node, facts: Facts) -> Node:
    if not isinstance(node, gast.Call) or node.keywords or len(node.args) != 2 or _of_numpy(node, facts) != "divide":
        return node
    if not all(is_number(argument, facts) for argument in node.args):
        return node
    return gast.BinOp(node.args[0], gast.Div(), node.args[1])


def is_number(node: Node, facts: Facts) -> bool:
    """Whether an expression is known to be a real number."""
    if isinstance(node, gast.Constant):
        return isinstance(node.value, float | int)
    if isinstance(node, gast.Name):
        spec = facts.spec.get(node) or facts.value_spec.get(facts.adjoint_of.get(node.id, node.id))
        return spec is not None and spec.scalar and node.id not in facts.complex
    if isinstance(node, gast.UnaryOp):
        return is_number(node.operand, facts)
    if isinstance(node, gast.BinOp):
        return is_number(node.left, facts) and is_number(node.right, facts)
    return False
