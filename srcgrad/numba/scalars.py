"""Functions of numbers: `math.cos(x)` in compiled code, where `np.cos(x)` of a number takes several times as long."""

from __future__ import annotations

import math

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.numba.axes import SINGLE
from srcgrad.numba.numbers import is_number, numbers
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
    """Spell functions of what is known to be a real number as those of `math`, and `np.divide(x, y)` as `x / y`.

    Of numbers, `sum_to(e, x)` is `e`, and no seed of one need be looked at.
    """
    known = numbers(program, facts)
    program.backward = [node for node in program.backward if not _is_seed_check(node, known, facts)]
    for node in [*statements([*program.forward, *program.backward]), program.result]:
        for part in header(node):
            for item in list(walk(part)):
                _respell(item, known, facts)
    return program


def _is_seed_check(node: Node, known: frozenset[str], facts: Facts) -> bool:
    """`check_seed(1.0, y)` of a number."""
    call: Node = node.value if isinstance(node, gast.Expr) else None
    checks = isinstance(call, gast.Call) and getattr(call.func, "id", "") == facts.imports.get(
        "check_seed", "check_seed"
    )
    return checks and all(is_number(part, known, facts) for part in call.args)


def _respell(item: Node, known: frozenset[str], facts: Facts) -> None:
    for key, child in gast.iter_fields(item):
        if isinstance(child, list):
            child[:] = [_plain(one, known, facts) for one in child]
        elif isinstance(child, gast.Call):
            setattr(item, key, _plain(child, known, facts))
    if not isinstance(item, gast.Call) or item.keywords or len(item.args) != 1:
        return
    plain = PLAIN.get(_of_numpy(item, facts))
    if plain is not None and is_number(item.args[0], known, facts):
        item.func = gast.Attribute(value=name(facts.library("math", math)), attr=plain, ctx=gast.Load())


def _of_numpy(call: Node, facts: Facts) -> str:
    """The name of the function of NumPy that is called; an empty string for any other."""
    function = call.func
    narrow = any(kind.dtype == SINGLE for kind in facts.arguments.values())  # np.exp(2.0) makes float64 of float32
    if narrow or not isinstance(function, gast.Attribute) or not isinstance(function.value, gast.Name):
        return ""
    return str(function.attr) if function.value.id == facts.imports.get("np") else ""


def _plain(node: Node, known: frozenset[str], facts: Facts) -> Node:
    """`x / y` for `np.divide(x, y)`, and `e` for `sum_to(e, x)`, of numbers."""
    if not isinstance(node, gast.Call) or node.keywords or len(node.args) != 2:
        return node
    if not all(is_number(argument, known, facts) for argument in node.args):
        return node
    if getattr(node.func, "id", "") == facts.imports.get("sum_to", "sum_to"):
        return _plain(node.args[0], known, facts)
    return gast.BinOp(node.args[0], gast.Div(), node.args[1]) if _of_numpy(node, facts) == "divide" else node
