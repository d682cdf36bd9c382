"""Functions of arrays that work on each element, as they are spelled for numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

import gast

from srcgrad.facts import Facts
from srcgrad.trees import Node, at, copy, expression

PLAIN = {
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "exp": "exp",
    "expm1": "expm1",
    "log": "log",
    "log1p": "log1p",
    "sqrt": "sqrt",
    "tanh": "tanh",
    "sinh": "sinh",
    "cosh": "cosh",
    "arctan": "atan",
    "arcsin": "asin",
    "arccos": "acos",
}
BINARY = {"add": gast.Add, "subtract": gast.Sub, "multiply": gast.Mult, "divide": gast.Div, "true_divide": gast.Div}
KEPT = ("maximum", "minimum", "sign", "floor", "ceil", "arctan2", "hypot")  # mean of numbers what they mean of arrays


def of_elements(node: Node, called: str, facts: Facts) -> Callable[[list[Node]], Node] | None:
    """A function of elements, as it is spelled for numbers; None for any other."""
    count = len(node.args)
    if count == 1 and called in PLAIN:
        spelled = f"{facts.library('math', math)}.{PLAIN[called]}(x)"
        return lambda parts: expression(spelled, x=parts[0])
    if count == 1 and called == "erf":
        spelled = f"{facts.library('math', math)}.erf(x)"
        return lambda parts: expression(spelled, x=parts[0])
    if count == 1 and called in ("abs", "absolute", "fabs"):
        return lambda parts: expression("abs(x)", x=parts[0])
    if count == 1 and called in ("square", "negative"):
        spelled = "x * x" if called == "square" else "-x"
        return lambda parts: expression(spelled, x=parts[0])
    if count == 2 and called in BINARY:
        return lambda parts: gast.BinOp(parts[0], BINARY[called](), parts[1])
    if called in KEPT or called == "if_larger":
        return lambda parts: at(gast.Call(copy(node.func), parts, []), node)
    return None
