"""Axes of kernels: the space they run over, how arrays lie in it, kinds of axes, and lines that need none."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any  # arguments are arbitrary objects

import numpy as np

from srcgrad.opencl.kernels.lines import ALL, SCANS, Line, Text, words

Axes = tuple[int | None, ...]  # per axis of a value, which axis of the kernel it is; None where its length is one


class MismatchError(Exception):
    """The arguments are not what the kernel is for."""


@dataclass
class Space:
    """The axes of every value, and of what is reduced before it is."""

    axes: dict[str, Axes] = field(default_factory=dict)
    over: dict[str, Axes] = field(default_factory=dict)  # per line, the axes of the elements that it is computed of
    parents: list[int] = field(default_factory=list)
    lengths: dict[int, list[tuple[str, int]]] = field(default_factory=dict)  # per axis, the axes of arguments it is

    def found(self, axis: int) -> int:
        """The axis that an axis has become."""
        while self.parents[axis] != axis:
            axis = self.parents[axis]
        return axis

    def known(self, axes: Axes) -> Axes:
        """Axes as they are called by now."""
        return tuple(None if axis is None else self.found(axis) for axis in axes)


def members(axes: Axes) -> frozenset[int]:
    """Axes without those of length one."""
    return frozenset(axis for axis in axes if axis is not None)


def space_of(text: Text, arguments: dict[str, tuple[bool, ...]], alike: dict[str, str]) -> Space:
    """The axes of all values, for arguments of which each axis is long (True) or of length one.

    Those that are `alike` another one, in shape, have its axes from the start.
    """
    space = Space()
    for name, long in arguments.items():
        if name in alike:
            space.axes[name] = space.axes[alike[name]]
            continue
        made: list[int | None] = []
        for one in long:
            made.append(len(space.parents) if one else None)
            if one:
                space.parents.append(len(space.parents))
        space.axes[name] = tuple(made)
    for line in [*text.lines, *(write.spread for write in text.writes)]:
        _note(line, space)
    for kind in (space.axes, space.over):
        for name, axes in kind.items():
            kind[name] = space.known(axes)
            present = [axis for axis in kind[name] if axis is not None]
            if len(set(present)) < len(present):
                raise MismatchError
    for name in arguments:
        for place, axis in enumerate(space.axes[name]):
            if axis is not None:
                space.lengths.setdefault(axis, []).append((name, place))
    return space


def _note(line: Line, space: Space) -> None:
    over: Axes = ()
    for read in line.reads:
        over = _joined(over, space.axes[read], space)
    space.over[line.name] = over
    if line.form == "":
        space.axes[line.name] = over
    elif line.form == "COUNT":
        space.over[line.name] = ()
        space.axes[line.name] = ()
        _place(line.axis, space.axes[line.like])
    elif line.form == "AXIS":
        assert line.axis is not None, "an axis has a place"
        place = line.axis if line.axis >= 0 else line.axis + len(over) + 1
        if not 0 <= place <= len(over):
            raise MismatchError
        space.axes[line.name] = (*over[:place], None, *over[place:])
    elif line.form == "ONLY":
        place = _place(line.axis, over)
        if over[place] is not None:
            raise MismatchError
        space.axes[line.name] = (*over[:place], *over[place + 1 :])
    elif line.form in SCANS:
        _place(line.axis, over)
        like = space.axes[line.like] if line.like else over
        if (line.axis is ALL and len(over) != 1) or [a is None for a in like] != [a is None for a in over]:
            raise MismatchError  # NumPy would make one axis of several
        space.axes[line.name] = _joined(over, like, space)
    elif line.form in ("SPREAD", "FILL", "SUM_TO"):
        space.axes[line.name] = _shaped(line, over, space)
    elif line.axis is ALL:
        space.axes[line.name] = (None,) * len(over) if line.kept else ()
    else:
        place = _place(line.axis, over)
        space.axes[line.name] = (*over[:place], *([None] if line.kept else []), *over[place + 1 :])


def _place(axis: int | None, axes: Axes) -> int:
    if axis is ALL:
        return 0
    place = axis + len(axes) if axis < 0 else axis
    if not 0 <= place < len(axes):
        raise MismatchError
    return place


def _shaped(line: Line, over: Axes, space: Space) -> Axes:
    """The axes of what takes the shape of another value."""
    like = space.axes[line.like]
    _joined(over, like, space)
    have, due = set(space.known(over)) - {None}, set(space.known(like)) - {None}
    if line.form != "SUM_TO" and (not have <= due or len(over) > len(like)):
        raise MismatchError
    if not have >= due and not have <= due:
        raise MismatchError
    return like


def _joined(one: Axes, two: Axes, space: Space) -> Axes:
    """The axes of what two values come to together; where both are long they are one axis from here on."""
    longest = max(len(one), len(two))
    one, two = (None,) * (longest - len(one)) + one, (None,) * (longest - len(two)) + two
    for first, second in zip(one, two, strict=True):
        if first is not None and second is not None:
            space.parents[space.found(first)] = space.found(second)
    return tuple(second if first is None else first for first, second in zip(one, two, strict=True))


REALS = {np.dtype(np.float32): "float", np.dtype(np.float64): "double"}
BOOL = np.dtype(np.bool_)
_SCALARS = (np.float32, np.float64)
_SPREAD = 16  # times its size that an array may spread over in memory, before a copy of it is better
_ASKED = 0x500  # of the flags of an array: aligned, writeable
_EXACT_INTEGERS = 2**24  # integers below are exact in any float type


def real_of(args: Sequence[Any], asked: Sequence[bool]) -> Any:
    """The float type in which NumPy would compute throughout; None if there is no such type."""
    real: object = None
    for value, test in zip(args, asked, strict=True):
        kind = type(value)
        if kind is float or (kind is int and abs(value) < _EXACT_INTEGERS):
            continue
        if kind is not np.ndarray and kind not in _SCALARS:
            return None
        if value.dtype == BOOL and test and value.ndim:
            continue
        if value.dtype not in REALS or (real is not None and value.dtype != real):
            return None
        real = value.dtype
    return real


def key_of(args: Sequence[Any]) -> tuple[Any, ...] | None:
    """What a kernel is prepared for: types, shapes and strides; None for integers that are not exact as floats."""
    made: list[object] = []
    for value in args:
        kind = type(value)
        if kind is np.ndarray:
            made.append((value.dtype, value.shape, value.strides, value.flags.num & _ASKED))
        elif kind is int and abs(value) >= _EXACT_INTEGERS:
            return None
        else:
            made.append(kind)
    return tuple(made)


def steps(value: Any) -> tuple[int, ...] | None:
    """Strides in elements; None for memory that kernels do not read as it is."""
    if not value.flags.aligned or any(s < 0 or s % value.itemsize for s in value.strides):
        return None
    if _span(value) > _SPREAD * value.nbytes:
        return None
    return tuple(0 if n == 1 else s // value.itemsize for n, s in zip(value.shape, value.strides, strict=True))


def _span(value: Any) -> int:
    """Bytes from the first element to the last."""
    return sum((n - 1) * s for n, s in zip(value.shape, value.strides, strict=True))


def steps_in_one_piece(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of an array whose elements lie next to each other."""
    made, step = [], 1
    for length in reversed(shape):
        made.append(0 if length == 1 else step)
        step *= length
    return tuple(reversed(made))


_CALLED = re.compile(r"\b(?!remainder\(|floor_divide\()[A-Za-z_]\w*\(|\?")  # but `%` and `//`, which Python has
_QUOTIENT = re.compile(r"\b(?:fmod|remainder|floor_divide)\(")


def kind_of(name: str, text: Text, space: Space, given: dict[str, object]) -> str:
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


def check_types(text: Text, space: Space, given: dict[str, object], real: Any) -> None:
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


def _is_whole(name: str, lines: dict[str, Line], given: dict[str, object]) -> bool:
    """Whether Python would compute a number with an integer among others."""
    if name in given:
        return type(given[name]) is int
    return any(_is_whole(read, lines, given) for read in lines[name].reads)


def _is_python(name: str, lines: dict[str, Line], given: dict[str, object]) -> bool:
    """Whether a number is one of Python's own."""
    if name in given:
        return type(given[name]) in (float, int)
    line = lines[name]
    if line.form == "SUM_TO":
        return _is_python(line.like, lines, given)
    if line.form == "COUNT":
        return True
    return not line.form and not _CALLED.search(line.value) and all(_is_python(r, lines, given) for r in line.reads)


Computed = Callable[..., tuple[Any, ...]]

_SIGNS = str.maketrans("?:", ",,")  # a choice is a tuple to Python: its parts stand where they stood
_EXACT = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_MODEST = 1e4


def alone(text: Text, arguments: Sequence[str], args: Sequence[object]) -> tuple[Text, Computed | None]:
    """The text whose `numbers` are given, as further arguments, and what computes them from the arguments.

    >>> from srcgrad.opencl.kernels.lines import parsed
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
