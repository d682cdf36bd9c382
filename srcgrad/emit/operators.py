"""Precedence and spelling of the operators of Python, and the table of the printers that use them."""

from __future__ import annotations

from collections.abc import Callable

import gast

# `BARE` is a place where a tuple needs no parentheses (right of `=`, behind `return`, in `a[...]`);
# `NAMED` is a place where `x := e` needs none (a condition, a positional argument).
BARE, NAMED, TEST, OR, AND, NOT, COMPARE, BITOR, BITXOR, BITAND, SHIFT = range(11)
ARITHMETIC, TERM, FACTOR, POWER, AWAIT, ATOM = range(11, 17)

BINARY: dict[type, tuple[str, int]] = {
    gast.Add: (" + ", ARITHMETIC),
    gast.Sub: (" - ", ARITHMETIC),
    gast.Mult: (" * ", TERM),
    gast.Div: (" / ", TERM),
    gast.MatMult: (" @ ", TERM),
    gast.FloorDiv: (" // ", TERM),
    gast.Mod: (" % ", TERM),
    gast.LShift: (" << ", SHIFT),
    gast.RShift: (" >> ", SHIFT),
    gast.BitAnd: (" & ", BITAND),
    gast.BitXor: (" ^ ", BITXOR),
    gast.BitOr: (" | ", BITOR),
    gast.Pow: (" ** ", POWER),
}
UNARY: dict[type, tuple[str, int]] = {
    gast.USub: ("-", FACTOR),
    gast.UAdd: ("+", FACTOR),
    gast.Invert: ("~", FACTOR),
    gast.Not: ("not ", NOT),
}
COMPARISON: dict[type, str] = {
    gast.Eq: " == ",
    gast.NotEq: " != ",
    gast.Lt: " < ",
    gast.LtE: " <= ",
    gast.Gt: " > ",
    gast.GtE: " >= ",
    gast.Is: " is ",
    gast.IsNot: " is not ",
    gast.In: " in ",
    gast.NotIn: " not in ",
}
NUMBERS = (int, float, complex)

# Kind of node to its printer; filled in `expression.py`.
PRINTERS: dict[type, Callable[[gast.AST, int], str]] = {}


def print_at(node: gast.AST, level: int = TEST) -> str:
    """Text of a node where only what binds at least as tightly as `level` needs no parentheses."""
    return PRINTERS[type(node)](node, level)
