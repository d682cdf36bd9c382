"""In which type NumPy would give the numbers of a kernel: Python's floats, its own scalars, or what an argument is."""

from __future__ import annotations

import re
from typing import Any  # arguments are arbitrary objects

from srcgrad.opencl.lines import Line, Text, words
from srcgrad.opencl.space import MismatchError, Space

_CALLED = re.compile(r"\b(?!remainder\(|floor_divide\()[A-Za-z_]\w*\(|\?")  # but `%` and `//`, which Python has
_QUOTIENT = re.compile(r"\b(?:fmod|remainder|floor_divide)\(")


def kind_of(name: str, text: Text, space: Space, given: dict[str, Any]) -> str:
    """How NumPy would give a value: `array`, `float`, like the argument that is named, or (empty) as its own scalar.

    What has been computed before the launch is given as it is, like an array.
    """
    if space.axes[name] or name in text.numbers:
        return "array"
    lines = {line.name: line for line in text.lines}
    line = lines[name]
    if line.form == "SUM_TO" and line.like in given:
        return line.like
    if "?" in line.value and not line.form:
        raise MismatchError  # np.where gives an array without axes
    if not _is_python(name, lines, given):
        return ""
    if _is_whole(name, lines, given):
        raise MismatchError  # it may be an integer
    return "float"


def check_types(text: Text, space: Space, given: dict[str, Any], real: Any) -> None:
    """A function of Python's numbers is a float64 to NumPy, and so is all that is computed with it.

    An array that is spread from them is one, too, until it is summed to what has another dtype; without axes, it is
    an array where kernels give numbers.
    """
    lines = {line.name: line for line in text.lines}
    if any(line.form in ("SPREAD", "FILL") and not space.axes[line.name] for line in text.lines):
        raise MismatchError
    for line in text.lines:
        if _QUOTIENT.search(line.value) and any(_is_whole(read, lines, given) for read in line.reads):
            if any(all(_is_python(read, lines, given) for read in words(part)) for part in _called(line.value)):
                raise MismatchError  # Python knows the last digits of all integers
        if real.itemsize == 8:
            continue
        if line.form == "SPREAD" and all(_is_python(read, lines, given) for read in line.reads):
            if any(line.name in other.reads and other.form != "SUM_TO" for other in text.lines):
                raise MismatchError
            if any(line.name == own for _, own in text.results):
                raise MismatchError
        if any(all(_is_python(read, lines, given) for read in words(part)) for part in _called(line.value)):
            raise MismatchError


def _called(value: str) -> list[str]:
    """What stands in the parentheses of calls, and of choices; all of a choice that stands in none."""
    opened: list[int] = []
    found = [value] if "?" in value else []
    for place, letter in enumerate(value):
        if letter == "(":
            opened.append(place)
        elif letter == ")":
            start = opened.pop()
            inside = value[start + 1 : place]
            if re.search(r"\w$", value[:start]) or "?" in inside:
                found.append(inside)
    return found


def _is_whole(name: str, lines: dict[str, Line], given: dict[str, Any]) -> bool:
    """Whether Python would compute a number with an integer among others."""
    if name in given:
        return type(given[name]) is int
    return any(_is_whole(read, lines, given) for read in lines[name].reads)


def _is_python(name: str, lines: dict[str, Line], given: dict[str, Any]) -> bool:
    """Whether a number is one of Python's own."""
    if name in given:
        return type(given[name]) in (float, int)
    line = lines[name]
    if line.form == "SUM_TO":
        return _is_python(line.like, lines, given)
    if line.form == "COUNT":
        return True
    return not line.form and not _CALLED.search(line.value) and all(_is_python(r, lines, given) for r in line.reads)
