"""What a kernel of float32 computes of Python's numbers alone: Python does it, in float64, before the launch.

NumPy rounds such a number when it meets an array, and not before: of `x * (a - b)` or `x * (a * b * c)` in float32
nothing may be left where a is near b, or where a * b is out of range.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any  # arguments are arbitrary objects

from srcgrad.opencl.lines import Line, Text, words

Computed = Callable[..., tuple[Any, ...]]

_SIGNS = str.maketrans("?:", ",,")  # a choice is a tuple to Python: its parts stand where they stood
_EXACT = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_MODEST = 1e4


def alone(text: Text, arguments: Sequence[str], args: Sequence[Any]) -> tuple[Text, Computed | None]:
    """The text whose `numbers` are given, as further arguments, and what computes them from the arguments.

    >>> from srcgrad.opencl.lines import parsed
    >>> text = parsed("REAL t = 1.0 - b; REAL y = x * (a * b) + t;".replace("; ", ";\\n"), ["x", "a", "b"])
    >>> made, computed = alone(text, ["x", "a", "b"], [None, 3.0, 0.5])
    >>> made.numbers, [line.value for line in made.lines], computed(None, 3.0, 0.5)
    (('t', 'number1'), ['x * (number1) + t'], (0.5, 1.5))
    """
    known = {name for name, value in zip(arguments, args, strict=True) if type(value) in (float, int)}
    taken = {*arguments, *(line.name for line in text.lines)}
    fresh = (name for k in count(1) if (name := f"number{k}") not in taken)
    made: dict[str, str] = {}
    lines: list[Line] = []
    for line in text.lines:
        tree = _tree(line.value) if known.intersection(line.reads) else None
        if tree is None or line.form == "COUNT":
            lines.append(line)
        elif not line.form and _is_known(tree, known):
            made[line.name] = line.value
            known.add(line.name)
        else:
            value = _replaced(line.value, _outermost(tree, known), made, fresh)
            reads = (*words(value), *([line.by] if line.by else []))
            lines.append(replace(line, value=value, reads=reads) if value != line.value else line)
    if not made:
        return text, None
    parts = "".join(f"({name} := {value}), " for name, value in made.items())
    computed = eval(f"lambda {', '.join(arguments)}: ({parts})")  # of sums and products of the arguments' names
    return replace(text, lines=tuple(lines), numbers=tuple(made)), computed


def _tree(value: str) -> ast.expr | None:
    """An expression of C as Python would read it, each part in its place; None for what is none."""
    spelled = value.translate(_SIGNS).replace("&&", "or").replace("||", "or")
    return ast.parse(spelled, mode="eval").body if spelled else None


def _is_known(node: ast.expr, known: set[str]) -> bool:
    """Whether an expression is of known numbers alone, and of operations that are the same in C and in Python."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, _EXACT) and _is_known(node.left, known) and _is_known(node.right, known)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and _is_known(node.operand, known)
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id in known)


def _outermost(node: ast.AST, known: set[str]) -> list[ast.BinOp]:
    """The parts of an expression, in order, that are better not computed in float32."""
    if isinstance(node, ast.BinOp) and _is_known(node, known):
        return [node] if _matters(node) else []
    return [found for child in ast.iter_child_nodes(node) for found in _outermost(child, known)]


def _matters(node: ast.BinOp) -> bool:
    """Whether more than a rounding could be lost: a number times modest constants is as good in float32."""
    inside = [*ast.walk(node)]
    constants = [float(part.value) for part in inside if isinstance(part, ast.Constant)]  # type: ignore[arg-type]
    names = sum(isinstance(part, ast.Name) for part in inside)
    return (
        names > 1
        or (names == 1 and any(isinstance(part, ast.Add | ast.Sub) for part in inside))
        or (names == 1 and not all(1 / _MODEST <= abs(constant) <= _MODEST for constant in constants))
    )


def _replaced(value: str, parts: list[ast.BinOp], made: dict[str, str], fresh: Any) -> str:
    """An expression with names in place of some of its parts, whose values are noted."""
    for part in reversed(parts):
        start, end = part.col_offset, part.end_col_offset
        name = next(fresh)
        made[name] = value[start:end]
        value = f"{value[:start]}{name}{value[end:]}"
    return value
