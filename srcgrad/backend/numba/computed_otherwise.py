"""What Numba compiles and computes otherwise than Python: refused, by the types that it found."""

from __future__ import annotations

import operator
from typing import Any  # compiled functions have no types of their own

from numba.core import ir, types

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.source_text import users_place


def check_powers(compiled: Any, seen: set[object]) -> None:
    """Refuse an integer to the power of an integer, which is an integer to Numba, 2 ** -1 is 0; E5026.

    `seen` are the signatures that were found right; the new ones are added.
    """
    for signature, made in compiled.overloads.items():
        if signature in seen:
            continue
        known = made.type_annotation
        for node, called in known.calltypes.items():
            if _is_power(node) and _are_integers(called.args) and not _is_whole(known.typemap[node.rhs.name]):
                raise DifferentiationError(
                    "E5026",
                    "an integer to the power of an integer: compiled code gives an integer, 0 for 2 ** -1",
                    "make the base a float: `2.0 ** n`, `float(k) ** n`",
                    users_place(node.loc.filename, node.loc.line),
                )
        seen.add(signature)


def _is_power(node: object) -> bool:
    return (
        isinstance(node, ir.Expr) and node.op in ("binop", "inplace_binop") and node.fn in (operator.pow, operator.ipow)
    )


def _are_integers(given: tuple[object, ...]) -> bool:
    return all(isinstance(one, types.Integer | types.Boolean) for one in given)


def _is_whole(exponent: object) -> bool:
    return isinstance(exponent, types.IntegerLiteral) and exponent.literal_value >= 0
