"""What it costs to compute values: which are better stored than computed twice, and how much work a loop is."""

from __future__ import annotations

import re

from srcgrad.opencl.lines import Line

_LIGHT = "ceil|copysign|fabs|floor|fmax|fmin|isnan|maximum|minimum|sign|trunc"  # functions of an instruction or two
_CALL = re.compile(rf"\b(?!(?:{_LIGHT})\()[A-Za-z_]\w*\(")
_OPERATOR = re.compile(rf"[-+*/?]|\b(?:{_LIGHT})\(")
_LONG = 15


def is_dear(line: Line) -> bool:
    """Whether a line is better stored than computed twice."""
    return _CALL.search(line.value) is not None


def cost(lines: list[Line]) -> int:
    """About how many operations the lines are for each element; a call of a function is as long as many."""
    return sum(1 + len(_OPERATOR.findall(line.value)) + _LONG * len(_CALL.findall(line.value)) for line in lines)
