"""Kernels line by line: the C of one element, how a kernel begins, and the axes over which it runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any  # arguments are arbitrary objects

import numpy as np

HEAD = "Of each element:"
SCANS = ("CUMSUM", "CUMPROD", "RECUR")
PLAIN = ("", "AXIS", "ONLY", "COUNT", "SPREAD", "FILL", *SCANS)  # forms that reduce nothing
_LINE = re.compile(r"^(?:(REAL|int) )?(\w+) = (.*);$")
_MANY = re.compile(r"^(SUM|MEAN|PROD|MAX|MIN|SUM_TO|SPREAD|FILL|AXIS|ONLY|COUNT|CUMSUM|CUMPROD|RECUR)\((.*)\)$")
_STORE = re.compile(r"^STORE\((\w+)\);$")
_WRITE = re.compile(r"^(SET|ADD)\((\w+); (.*)\);$")
_WORD = re.compile(r"(?<![\w.])([A-Za-z_]\w*)(?!\w*\()")
_HIT = re.compile(r"^(\w+) == \w+ \? 1\.0 : 0\.0$")
ALL = None


@dataclass(frozen=True)
class Line:
    """One value: its form (empty for what is computed of each element), and the C of what it is made of."""

    name: str
    form: str
    value: str
    reads: tuple[str, ...]
    like: str = ""  # the name whose shape it takes, or whose elements are counted
    axis: int | None = ALL
    kept: bool = False
    test: bool = False  # whether it is true or false
    back: bool = False  # whether it runs from the end of the axis to its beginning
    before: bool = False  # whether each element's own is left out
    by: str = ""  # of a recurrence, the name of what its value is multiplied by from step to step


@dataclass(frozen=True)
class Write:
    """A value that is put into an argument, or added to it."""

    argument: str
    added: bool
    value: str  # the line that is written
    spread: Line  # the same in the shape of the argument


@dataclass(frozen=True)
class Text:
    """The lines of a kernel, each with a name of its own, which of them are its results, and what it writes."""

    lines: tuple[Line, ...]
    results: tuple[tuple[str, str], ...]  # as it is called, and the line that it is
    writes: tuple[Write, ...] = ()
    numbers: tuple[str, ...] = ()  # what is computed before the launch, and given


def parsed(text: str, arguments: list[str]) -> Text:
    """The lines of a docstring. A name that is bound again is another one from there on."""
    known = {argument: argument for argument in arguments}
    lines: list[Line] = []
    results: list[tuple[str, str]] = []
    bound: dict[str, int] = dict.fromkeys(arguments, 1)
    writes: list[Write] = []
    for raw in text.splitlines():
        written = raw.split("//")[0].strip()
        if found := _STORE.match(written):
            results.append((found[1], known[found[1]]))
        elif found := _WRITE.match(written):
            value = next(v for k in count(1) if (v := f"{found[2]}_put{k}") not in bound)
            bound[value] = 1
            lines.append(_line(value, found[3], False, known))
            spread = Line(f"{value}_all", "SPREAD", value, (value,), like=found[2])
            writes.append(Write(found[2], found[1] == "ADD", value, spread))
        elif found := _LINE.match(written):
            test, name, value = found[1] == "int", found[2], found[3]
            bound[name] = bound.get(name, 0) + 1
            own = name if bound[name] == 1 else f"{name}_v{bound[name]}"
            lines.append(_line(own, value, test, known))
            known[name] = own
    return Text(tuple(lines), tuple(results), tuple(writes))


def _line(name: str, value: str, test: bool, known: dict[str, str]) -> Line:
    many = _MANY.match(value)
    if many is None or not _is_one_call(value):
        made = renamed(value, known)
        return Line(name, "", made, words(made), test=test)
    of, *rest = [part.strip() for part in many[2].split(";")]
    made = renamed(of, known)
    if many[1] in ("SUM_TO", "SPREAD", "FILL"):
        return Line(name, many[1], made, words(made), like=known[rest[0]])
    by = known[rest.pop(0)] if many[1] == "RECUR" else ""
    like = known[rest.pop(0)] if len(rest) > 1 else ""
    marks = [mark.strip() for mark in rest[0].split(",")] if rest else []
    axis = int(marks[0]) if marks and marks[0] not in ("kept", "back", "before") else ALL
    if many[1] == "COUNT":
        return Line(name, "COUNT", "", (), like=made, axis=axis)
    reads = tuple(dict.fromkeys([*words(made), *([by] if by else [])]))
    way = {"kept": "kept" in marks, "back": "back" in marks, "before": "before" in marks}
    return Line(name, many[1], made, reads, like, axis, by=by, **way)


def _is_one_call(value: str) -> bool:
    """Whether the parenthesis that opens first closes last."""
    depth = 0
    for place, letter in enumerate(value):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == ")" and not depth:
            return place == len(value) - 1
    return False


def renamed(value: str, known: dict[str, str]) -> str:
    """An expression over the names of the lines."""
    return _WORD.sub(lambda word: known.get(word[1], word[1]), value)


def words(value: str) -> tuple[str, ...]:
    """The names that an expression reads, each once."""
    found = dict.fromkeys(word[1] for word in _WORD.finditer(value))
    return tuple(word for word in found if word not in _NO_NAMES)


_NO_NAMES = frozenset(("REAL", "NAN", "INFINITY", "int"))


def compared(lines: Iterable[Line]) -> frozenset[str]:
    """Values that are asked whether they are an extreme: computed twice, they might differ in the last bit."""
    hits = (_HIT.match(line.value) for line in lines if not line.form)
    return frozenset(hit[1] for hit in hits if hit)


def is_asked(text: Text, argument: str) -> bool:
    """Whether an argument is only ever asked whether it is true: it may then be given booleans."""
    if any(line.by == argument for line in text.lines):
        return False
    reads = [line.value for line in text.lines if argument in line.reads]
    mentions = sum(len(re.findall(rf"\b{argument}\b", value)) for value in reads)
    return 0 < mentions == sum(len(re.findall(rf"\b{argument} \?", value)) for value in reads)


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


ONCE = "#define SG_ONCE static __attribute__((noinline)) void\n"  # where that is so
_PLACE = "const size_t g = get_group_id(0), groups = get_num_groups(0);"


@dataclass(frozen=True)
class Part:
    """What one stage does: its name, its parameters, and its body, in braces."""

    name: str
    given: Sequence[str]
    body: str


def entry(name: str, given: Sequence[str], body: str) -> str:
    """A kernel of work-groups of one item, whose body, in braces, knows its group as `g`, one of `groups`."""
    listed = ",\n    ".join(given)
    passed = ", ".join([parameter.split()[-1] for parameter in given] + ["get_group_id(0)", "get_num_groups(0)"])
    function = f"{name}_work(\n    {listed},\n    const size_t g,\n    const size_t groups)"
    kernel = f"__attribute__((reqd_work_group_size(1, 1, 1)))\n__kernel void {name}(\n    {listed})"
    return f"""#ifdef SG_ONCE
SG_ONCE {function};

{kernel}
{{ {name}_work({passed}); }}

SG_ONCE {function}
{{
#else
{kernel}
{{ {_PLACE}
#endif
{body}}}
"""


def entry_of_all(name: str, parts: Sequence[Part]) -> str:
    """A kernel of several stages, of which it runs those from one to another; for runtimes that compile a kernel so."""
    functions, given, calls = [], [], []
    for k, part in enumerate(parts):
        own = [f"{parameter}_{k}" for parameter in part.given]
        passed = ", ".join([*(parameter.split()[-1] for parameter in own), "g", "groups"])
        listed = ",\n    ".join([*part.given, "const size_t g", "const size_t groups"])
        functions.append(f"SG_ONCE {part.name}_work(\n    {listed})")
        calls.append(f"if (sg_first <= {k} && {k} < sg_last) {part.name}_work({passed});")
        given += own
    listed = ",\n    ".join([*given, "const uint sg_first", "const uint sg_last"])
    inside = "\n    ".join([_PLACE, *calls])
    declared = "\n".join(f"{function};" for function in functions)
    defined = "\n".join(f"{function}\n{part.body}" for function, part in zip(functions, parts, strict=True))
    return f"""{declared}

__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void {name}(
    {listed})
{{
    {inside}
}}

{defined}
"""


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
