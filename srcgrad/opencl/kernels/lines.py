"""The C of one element, line by line, and how a kernel begins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count

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
