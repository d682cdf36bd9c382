"""Stages of a kernel: what each computes, sums and scans that end it; and their C, passes over elements."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace

import numpy as np

from srcgrad.opencl.kernels.c_functions import FLAGGED
from srcgrad.opencl.kernels.lines import (
    PLAIN,
    SCANS,
    Line,
    MismatchError,
    Space,
    Text,
    Write,
    compared,
    is_dear,
    members,
)


def in_parts(text: Text, space: Space) -> Text:
    """A text in which a running sum of a single row reads the sum of the parts before its own.

    What runs along an axis of length one does not run.
    """
    lines: list[Line] = []
    for line in text.lines:
        over = space.over[line.name]
        if line.before and along(line, space) is None:
            line = replace(line, form="", value="1.0", before=False)  # nothing comes before the only one
        if line.form == "CUMSUM" and len(members(over)) == 1 and along(line, space) is not None:
            before = Line(f"{line.name}_before", "PARTS", line.value, line.reads, back=line.back)
            space.over[before.name], space.axes[before.name] = over, ()
            lines.append(before)
            line = replace(line, reads=(*line.reads, before.name))
        lines.append(line)
    return replace(text, lines=tuple(lines))


def along(line: Line, space: Space) -> int | None:
    """The axis along which a line runs; None for one that does not, or along an axis of length one."""
    return space.axes[line.name][0 if line.axis is None else line.axis] if line.form in SCANS else None


def directions(line: Line, axes: tuple[int, ...], space: Space) -> str:
    """How a line runs in a stage with these axes: in its `rows`, `down` or `up` them, or (empty) not at all."""
    axis = along(line, space)
    if axis is None:
        return ""
    if axis == axes[-1]:
        return "rows"
    if len(axes) < 2 or axis != axes[-2]:
        raise MismatchError  # the elements of one sum lie in rows far apart
    return "up" if line.back else "down"


_CHEAP = 4  # lines that are computed again rather than stored


@dataclass
class Stage:
    """One kernel of C: its axes, outermost first, its lines, what it is given and what it gives."""

    axes: tuple[int, ...]
    lines: list[Line] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    stored: list[str] = field(default_factory=list)  # values of elements or of rows
    ends: dict[str, str] = field(default_factory=dict)
    # sums: `total`, `columns`, `batches` of rows where the last axis but one is summed, `host` for what NumPy reduces
    way: str = ""  # in which direction things run: along its `rows`, or `down` or `up` them


@dataclass
class Staging:
    """The work on one kernel."""

    text: Text
    space: Space
    lines: dict[str, Line] = field(default_factory=dict)
    stages: list[Stage] = field(default_factory=list)
    home: dict[str, int] = field(default_factory=dict)  # the stage that computes a line
    ready: dict[str, int] = field(default_factory=dict)  # the first stage that may read it
    wanted: set[str] = field(default_factory=set)
    pinned: frozenset[str] = frozenset()  # values that must not be computed twice

    def reach(self, line: Line) -> frozenset[int]:
        """The axes along which a line is computed."""
        over = members(self.space.over[line.name])
        return over | members(self.space.axes[line.name]) if self.is_plain(line) else over

    def is_plain(self, line: Line) -> bool:
        """Whether a line reduces nothing."""
        return not self.reduced(line)

    def reduced(self, line: Line) -> frozenset[int]:
        """The axes that a line reduces."""
        if line.form in PLAIN:
            return frozenset()
        return members(self.space.over[line.name]) - members(self.space.axes[line.name])


def stages(text: Text, space: Space) -> tuple[list[Stage], list[Stage]]:
    """What runs after what; and, for each value that is written into an argument, what computes it then."""
    work = Staging(text, space, {line.name: line for line in text.lines})
    roots = [root(own, text, space) for _, own in text.results if own not in text.numbers]
    work.wanted = set(roots)
    if not work.wanted <= set(work.lines):
        raise MismatchError
    work.pinned = compared(text.lines) & work.lines.keys()
    needed = _needed(work, [*roots, *(write.value for write in text.writes)])
    widest = _widest([work.reach(line) for line in needed])
    for line in needed:
        _put(line, widest, work)
    for number, stage in enumerate(work.stages):
        if stage.way in ("down", "up"):  # groups divide rows there
            stage.ends = {name: "host" if end == "batches" else end for name, end in stage.ends.items()}
        _fill(number, stage, work)
    writes = [_written(write, work) for write in text.writes]
    _store(work, writes)
    return work.stages, writes


def _written(write: Write, work: Staging) -> Stage:
    """What computes a value when it is written: the arguments may have changed by then, and are not read."""
    axes = tuple(axis for axis in work.space.axes[write.argument] if axis is not None)
    if not axes:
        raise MismatchError
    inside: dict[str, Line] = {}
    read: dict[str, None] = {}
    todo = [write.value]
    while todo:
        name = todo.pop()
        if name in inside or name in read:
            continue
        line = work.lines.get(name)
        if line is None or not _is_numbers(line, work) or (name in work.home and not _is_cheap(name, work)):
            read[name] = None
            if members(work.space.axes[name]) and name not in work.home:
                raise MismatchError
        else:
            inside[name] = line
            todo += line.reads
    lines = [line for line in work.text.lines if line.name in inside]
    order = [*work.space.axes]
    return Stage(axes, [*lines, write.spread], sorted(read, key=order.index), [write.spread.name])


def _is_numbers(line: Line, work: Staging) -> bool:
    """Whether a line reads other lines and numbers, but no array among the arguments."""
    if line.form == "COUNT":
        return False
    return all(read in work.lines or not members(work.space.axes[read]) for read in line.reads)


def root(name: str, text: Text, space: Space) -> str:
    """The line whose value a line is, as it is: `sum_to` of what has the shape already."""
    lines = {line.name: line for line in text.lines}
    while name in lines and lines[name].reads == (lines[name].value,):
        line = lines[name]
        if line.form not in ("SUM_TO", "SPREAD") or space.axes[line.name] != space.axes[line.value]:
            break
        if line.value not in lines:
            break
        name = line.value
    return name


def _needed(work: Staging, names: list[str]) -> list[Line]:
    """The lines on which values depend, in order."""
    found: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name in work.lines and name not in found:
            found.add(name)
            todo += work.lines[name].reads
    return [line for line in work.text.lines if line.name in found]


def _widest(sets: list[frozenset[int]]) -> list[frozenset[int]]:
    found = list(dict.fromkeys(sets))
    return [one for one in found if not any(one < other for other in found)]


def _put(line: Line, widest: list[frozenset[int]], work: Staging) -> None:
    """Choose the stage of a line; a line that is computed wherever it is read has none."""
    if line.form == "COUNT":
        return
    lowest = max((work.ready.get(read, 0) for read in line.reads), default=0)
    axes = _axes_for(line, widest, work)
    if axes is None:
        work.ready[line.name] = lowest
        return
    of_rows = bool(work.reach(line)) and work.reach(line) < set(axes)  # one number for each row
    rows = of_rows or (axes[-1:] and work.reduced(line) == {axes[-1]})
    way = directions(line, axes, work.space) or ("rows" if rows else "")
    number = _first(axes, way, lowest, work)
    if of_rows and number == len(work.stages):  # no stage has its rows still: it is one by itself
        axes, way = _ordered(work.reach(line), work), ""
        number = _first(axes, way, lowest, work)
    if number == len(work.stages):
        work.stages.append(Stage(axes))
    work.stages[number].way = way or work.stages[number].way
    work.home[line.name] = number
    end = _end(line, work.stages[number], work)
    if end:
        work.stages[number].ends[line.name] = end
    work.ready[line.name] = number + (1 if end else 0)


def _first(axes: tuple[int, ...], way: str, lowest: int, work: Staging) -> int:
    """The first stage with these axes that may compute what runs this way; the number of the next one, if none may."""
    fitting = (k for k, one in enumerate(work.stages) if one.axes == axes and (not way or one.way in ("", way)))
    return next((k for k in fitting if k >= lowest), len(work.stages))


def _axes_for(line: Line, widest: list[frozenset[int]], work: Staging) -> tuple[int, ...] | None:
    """The axes of the stage that suits a line; None for what costs nothing where it is read."""
    reach, wanted = work.reach(line), line.name in work.wanted | work.pinned or not work.is_plain(line)
    if reach in widest or (reach and line.form in (*SCANS, "PARTS")):
        return _ordered(reach, work)
    if not wanted and (not reach or not is_dear(line)):
        return None
    for one in widest:
        order = _ordered(one, work)
        if reach == one - {order[-1]} and len(order) > 1 and _is_of_rows(line, order, work):
            return order
    return _ordered(reach, work)


def _is_of_rows(line: Line, axes: tuple[int, ...], work: Staging) -> bool:
    """Whether a line depends on a reduction along the rows of a stage with these axes."""
    todo, seen = list(line.reads), set()
    while todo:
        name = todo.pop()
        if name in seen or name not in work.lines:
            continue
        seen.add(name)
        other = work.lines[name]
        if work.reduced(other) == {axes[-1]} and work.reach(other) == set(axes):
            return True
        todo += other.reads
    return False


def _ordered(reach: frozenset[int], work: Staging) -> tuple[int, ...]:
    """Axes in the order in which a value has them."""
    for kind in (work.space.over, work.space.axes):
        for axes in kind.values():
            if members(axes) == reach:
                return tuple(axis for axis in axes if axis is not None)
    raise MismatchError


def _end(line: Line, stage: Stage, work: Staging) -> str:
    """How a reduction ends its stage; an empty string where it does not."""
    reduced, over = work.reduced(line), members(work.space.over[line.name])
    axes = frozenset(stage.axes)
    if not reduced:
        return ""
    if line.form == "PARTS":
        return "parts"
    if over == axes and len(axes) > 1 and reduced == {stage.axes[-1]}:
        return ""
    if line.form == "PROD":  # parts of a product may be out of the range of numbers where it is not
        return "host"
    if reduced == over and (over == axes or over == axes - {stage.axes[-1]}):
        return "total"
    if over == axes and reduced == axes - {stage.axes[-1]} and line.form not in ("MAX", "MIN"):
        return "columns"
    if over == axes and line.form in ("SUM", "SUM_TO") and _is_of_batches(line, stage, work):
        return "batches"
    return "host"


def _is_of_batches(line: Line, stage: Stage, work: Staging) -> bool:
    """Whether a line sums along the last axis but one of a stage, and has the others in their order."""
    kept = tuple(axis for axis in work.space.axes[line.name] if axis is not None)
    return len(kept) > 1 and kept == (*stage.axes[:-2], stage.axes[-1])


def _fill(number: int, stage: Stage, work: Staging) -> None:
    """The lines of a stage, with those of others that it computes again, and what it reads."""
    inside: set[str] = {name for name, home in work.home.items() if home == number}
    todo = [read for name in inside for read in work.lines[name].reads]
    read: set[str] = set()
    while todo:
        name = todo.pop()
        if name in inside or name in read:
            continue
        again = name in work.lines and (name not in work.home or _is_cheap(name, work))
        again = again and work.lines[name].form != "COUNT"  # a number that is known when a kernel is prepared
        if again:
            inside.add(name)
            todo += work.lines[name].reads
        else:
            read.add(name)
    stage.lines = [line for line in work.text.lines if line.name in inside]
    order = [*work.space.axes]
    stage.inputs = sorted(read, key=order.index)


def _is_cheap(name: str, work: Staging) -> bool:
    """Whether a line of an earlier stage is computed again rather than stored there."""
    if any(name in stage.ends for stage in work.stages) or name in work.wanted | work.pinned:
        return False
    todo, seen = [name], set()
    while todo:
        line = work.lines.get(todo.pop())
        if line is None or line.name in seen or any(line.name in stage.ends for stage in work.stages):
            continue
        seen.add(line.name)
        if is_dear(line) or not work.is_plain(line) or line.form in SCANS or len(seen) > _CHEAP:
            return False
        todo += line.reads
    return True


def _store(work: Staging, writes: list[Stage]) -> None:
    """What stages store: results, and what later ones read."""
    reads = [read for stage in [*work.stages, *writes] for read in stage.inputs]
    for name in dict.fromkeys([*sorted(work.wanted), *reads]):
        if name in work.home:
            stage = work.stages[work.home[name]]
            if name not in stage.ends:
                stage.stored.append(name)
    for stage in work.stages:
        for name in stage.stored:
            kept = tuple(axis for axis in work.space.axes[name] if axis is not None)
            if kept not in (stage.axes, stage.axes[:-1]):
                raise MismatchError
        stage.stored.sort(key=[line.name for line in work.text.lines].index)


@dataclass
class Pass:
    """What is done with a row as a whole, then a loop over its elements."""

    lines: list[Line] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)  # inputs of elements
    again: list[str] = field(default_factory=list)  # values of earlier passes, from memory
    kept: list[str] = field(default_factory=list)  # values that go to memory
    sums: list[Line] = field(default_factory=list)
    rows: list[Line] = field(default_factory=list)  # of the row as a whole, before the loop


@dataclass
class Plan:
    """A stage as passes, with what is computed once and what lies in memory only while it runs."""

    stage: Stage
    passes: list[Pass]
    once: list[Line]  # lines that depend on numbers only
    scratch: list[str]  # values kept between passes that are no results
    level: dict[str, str]  # per name: `once`, `row` or `element`
    scans: dict[str, str]  # running values: along `rows`, `down` or `up` them


@dataclass
class _Work:
    stage: Stage
    level: dict[str, str]
    lines: dict[str, Line]
    reductions: set[str] = field(default_factory=set)
    first: dict[str, int] = field(default_factory=dict)  # the pass in which a name may be read
    saved: set[str] = field(default_factory=set)
    pinned: frozenset[str] = frozenset()  # values that must not be computed twice
    scans: dict[str, str] = field(default_factory=dict)


def planned(stage: Stage, space: Space, spread: bool = False) -> Plan:
    """The passes of a stage; with `spread`, what is of a row is computed for each of its elements."""
    work = _Work(stage, {}, {line.name: line for line in stage.lines})
    for name in stage.inputs:
        work.level[name] = _level(members(space.axes[name]), stage, spread)
    for line in stage.lines:
        reach = members(space.over[line.name]) | members(space.axes[line.name])
        if is_row_reduction(line, stage, space):
            work.reductions.add(line.name)
            reach = reach - {stage.axes[-1]}
        work.level[line.name] = _level(reach, stage, spread)
    work.first = dict.fromkeys(stage.inputs, 0)
    work.scans = {line.name: way for line in stage.lines if (way := directions(line, stage.axes, space))}
    backwards: dict[int, bool] = {}  # per pass
    for line in stage.lines:
        number = max((work.first[read] for read in line.reads), default=0)
        while line.name in work.scans and backwards.setdefault(number, line.back) != line.back:
            number += 1
        work.first[line.name] = number + (line.name in work.reductions)
    work.pinned = compared(stage.lines)
    work.saved = {n for n in stage.stored if work.level[n] == "element"}
    scratch: list[str] = []
    while True:
        passes = [_pass(number, work) for number in range(1 + max(work.first.values(), default=0))]
        missing = {name for one in passes for name in one.again} - work.saved
        if not missing:
            break
        scratch += sorted(missing)
        work.saved |= missing
    once = [line for line in stage.lines if work.level[line.name] == "once"]
    return Plan(stage, passes, once, scratch, work.level, work.scans)


def is_row_reduction(line: Line, stage: Stage, space: Space) -> bool:
    """Whether a line reduces along the rows of its stage, which go on to use it."""
    if line.name in stage.ends or line.form in PLAIN:
        return False
    return bool(members(space.over[line.name]) - members(space.axes[line.name]))


def _level(reach: frozenset[int], stage: Stage, spread: bool) -> str:
    if not reach:
        return "once"
    return "element" if spread or stage.axes[-1] in reach else "row"


def _pass(number: int, work: _Work) -> Pass:
    made = Pass()
    here = [line for line in work.stage.lines if work.first[line.name] == number]
    for line in work.stage.lines:
        if line.name in work.reductions:
            if work.first[line.name] == number + 1:
                made.sums.append(line)
        elif line in here and work.level[line.name] == "element":
            if line.name in work.stage.ends:
                made.sums.append(line)
            elif line.name in work.saved:
                made.kept.append(line.name)
        elif line in here and work.level[line.name] == "row":
            made.rows.append(line)
    found = _read_by(number, [*(read for line in made.sums for read in line.reads), *made.kept], work, made)
    made.lines = [line for line in work.stage.lines if line.name in found]
    made.loads = [name for name in work.stage.inputs if name in found]
    return made


def _read_by(number: int, todo: list[str], work: _Work, made: Pass) -> set[str]:
    """Inputs and lines of elements that a pass needs; what it reads from memory is noted."""
    found: set[str] = set()
    seen: set[str] = set()
    while todo:
        name = todo.pop()
        if name in seen or work.level[name] != "element":
            continue
        seen.add(name)
        line = work.lines.get(name)
        if line is None:
            found.add(name)
        elif work.first[name] < number and (name in work.saved | work.pinned or _is_dear(name, work)):
            made.again.append(name)
        else:
            found.add(name)
            todo += line.reads
    return found


def _is_dear(name: str, work: _Work) -> bool:
    """Whether a value of elements costs more to compute than to read."""
    todo, seen = [name], set()
    while todo:
        line = work.lines.get(todo.pop())
        if line is None or line.name in seen or work.level[line.name] != "element":
            continue
        seen.add(line.name)
        if is_dear(line) or line.name in work.scans or len(seen) > _CHEAP:
            return True
        if line.name == name or line.name not in work.saved:
            todo += line.reads
    return False


FAR = re.compile(rf"\b({'|'.join(FLAGGED)})\(")


@dataclass(frozen=True)
class Form:
    """What the C of a stage is made for: the real type, the device, and how each input lies in memory.

    Layouts of inputs: `v` a number; `g` one for each group; `1` and `s` elements along the row, next to each other or a
    stride apart; `t` transposed, which is brought into blocks first; `r` one element per row (with `b` behind for
    booleans).
    """

    real: str
    gpu: bool
    layouts: tuple[str, ...]
    axes: int  # 1: one row; more: rows along the axes before the last


def decided(code: str) -> str:
    """The code with each real number that decides between two values compared with 0: OpenCL C takes no other.

    >>> decided("const REAL y = y_row[0]; REAL t = y ? 1.0 : 2.0;")
    'const REAL y = y_row[0]; REAL t = y != 0 ? 1.0 : 2.0;'
    """
    real = set(re.findall(r"\b(?:REAL|SUM_TYPE) (\w+) =", code)) & set(re.findall(r"\b(\w+) \?", code))
    return re.sub(rf"\b({'|'.join(sorted(real))}) \?", r"\1 != 0 ?", code) if real else code


def parameters(plan: Plan, form: Form) -> list[str]:
    made = ["const ulong rows", "const ulong row", *(f"const ulong d{k}" for k in range(1, form.axes - 1))]
    for name, layout in zip(plan.stage.inputs, form.layouts, strict=True):
        if layout == "v":
            made.append(f"const REAL {name}_in")
            continue
        if layout == "g":
            made.append(f"__global const SUM_TYPE* restrict {name}_in")
            continue
        made.append(f"__global const {'uchar' if layout.endswith('b') else 'REAL'}* restrict {name}_in")
        made += [f"const long {name}_s{k}" for k in range(form.axes - 1)]
        made += [f"const long {name}_step"] if layout[0] in "st" else []
    made += [f"__global REAL* restrict {name}_out" for name in plan.stage.stored]
    for name, end in plan.stage.ends.items():
        made.append(
            {
                "total": f"__global SUM_TYPE* restrict {name}_sum",
                "parts": f"__global SUM_TYPE* restrict {name}_sum",
                "columns": f"__global REAL* restrict {name}_cols",
                "batches": f"__global REAL* restrict {name}_out",
                "host": f"__global REAL* restrict {name}_out",
            }[end]
        )
    return made + [f"__global REAL* restrict {name}_tmp" for name in plan.scratch]


def numbers_in(plan: Plan, form: Form, real: object) -> list[object]:
    """Per parameter the dtype of a number, None for memory: what pyopencl asks for."""
    made: list[object] = [np.uint64] * (2 + max(0, form.axes - 2))
    for layout in form.layouts:
        made.append(real if layout == "v" else None)
        if layout not in "vg":
            made += [np.int64] * (form.axes - 1 + (layout[0] in "st"))
    return made + [None] * (len(plan.stage.stored) + len(plan.stage.ends) + len(plan.scratch))


def once(plan: Plan, form: Form) -> list[str]:
    """What depends on numbers only."""
    made = []
    for name, layout in zip(plan.stage.inputs, form.layouts, strict=True):
        if layout == "v":
            made.append(f"const REAL {name} = {name}_in;")
        if layout == "g":
            made.append(f"const SUM_TYPE {name} = {name}_in[g];")
    made += [far(computed(line)) for line in plan.once]
    stored = [line.name for line in plan.once if line.name in plan.stage.stored]
    return made + [f"{name}_out[0] = {name};" for name in stored]


def offsets(plan: Plan, form: Form) -> list[str]:
    """Where the row of each input starts, and its value if it has one per row."""
    made = []
    for name, layout in zip(plan.stage.inputs, form.layouts, strict=True):
        if layout[0] in "vgt":
            continue
        kind = "uchar" if layout.endswith("b") else "REAL"
        terms = " + ".join(f"(long)j{k} * {name}_s{k}" for k in range(form.axes - 1)) or "0"
        made.append(f"__global const {kind}* restrict {name}_row = {name}_in + ({terms});")
        if layout[0] == "r" and plan.level[name] == "row":
            made.append(f"const {'int' if kind == 'uchar' else 'REAL'} {name} = {name}_row[0];")
    return made


def rows_of(form: Form) -> list[str]:
    """The places along the axes of rows, from the number of a row."""
    if form.axes == 1:
        return []
    made, rest = [], "r"
    for k in range(form.axes - 2, 0, -1):
        made += [f"const size_t j{k} = {rest} % d{k};", f"const size_t q{k} = {rest} / d{k};"]
        rest = f"q{k}"
    return [*made, f"const size_t j0 = {rest};"]


def row_lines(one: Pass, plan: Plan) -> list[str]:
    """What is done with a row as a whole."""
    made = []
    for line in one.rows:
        if plan.stage.ends.get(line.name) == "host":
            made.append(far(f"{line.name}_out[r] = {line.value};"))
            continue
        if line.name in plan.stage.ends:
            made.append(far(added(line, f"{line.name}_total", "SUM_TYPE")))
            continue
        made.append(far(computed(line)))
        if line.name in plan.stage.stored:
            made.append(f"{line.name}_out[r] = {line.name};")
    return made


def element(one: Pass, plan: Plan, form: Form, place: str, held: Collection[str] = ()) -> list[str]:
    """What is done with an element; `place` is where the results of rows of scratch memory start.

    The values in `held` are in memory, from another loop.
    """
    kinds = dict(zip(plan.stage.inputs, form.layouts, strict=True))
    made = []
    for name in one.loads:
        layout = kinds[name]
        at = {"1": "[i]", "s": f"[(long)i * {name}_step]", "t": "[i - from]", "r": "[0]"}[layout[0]]
        made.append(f"{'int' if layout.endswith('b') else 'REAL'} {name} = {name}_row{at};")
    tests = {line.name for line in plan.stage.lines if line.test}
    for name in one.again:
        memory = f"{name}_tmp[{place} + i]" if name in plan.scratch else f"{name}_out[at]"
        made.append(f"{'int' if name in tests else 'REAL'} {name} = {memory};")
    made += [_value(line, plan, form, held) for line in one.lines]
    made += [f"{n}_tmp[{place} + i] = {n};" if n in plan.scratch else f"{n}_out[at] = {n};" for n in one.kept]
    for line in one.sums:
        end = plan.stage.ends.get(line.name)
        if end == "host" or (end == "batches" and form.gpu):
            made.append(f"{line.name}_out[at] = {line.value};")
        elif end in ("columns", "batches"):
            made.append(f"{in_column(line.name, plan, form)} += {line.value};")
        elif line.form == "PROD":  # multiplied one by one, as NumPy does, when a block is computed
            made.append(f"{line.name}_factors[{'me' if form.gpu else 'i - begin'}] = {line.value};")
        else:
            made.append(added(line, f"{line.name}_acc[LANE]"))
    return made


def in_column(name: str, plan: Plan, form: Form) -> str:
    """Where a group adds up elements that are one below the other: all of its rows, or those of a batch."""
    if plan.stage.ends[name] == "columns":
        return f"{name}_cols[g * row + i]"
    return f"{name}_out[q{form.axes - 2} * row + i]"


def batches(plan: Plan) -> list[str]:
    """The sums of batches of rows."""
    return [name for name, end in plan.stage.ends.items() if end == "batches"]


def cleared(plan: Plan, form: Form) -> list[str]:
    """What is done before the first row of a batch."""
    clear = [f"{in_column(name, plan, form)} = 0;" for name in batches(plan)]
    return [f"if (j{form.axes - 2} == 0) for (size_t i = from; i < to; i++) {{ {' '.join(clear)} }}"] if clear else []


def _value(line: Line, plan: Plan, form: Form, held: Collection[str]) -> str:
    """The C of one value of an element: computed, found in memory, or added to the one in the row before."""
    if line.name in held:
        start = f"{line.name}_start + " if line.form == "CUMSUM" and line.name in plan.scans else ""
        place = "[i - begin + 1]" if line.before and line.back else "[i - begin]"
        return f"const REAL {line.name} = {start}{line.name}_run{'' if form.gpu else place};"
    if plan.scans.get(line.name) in ("down", "up"):
        return _carried(line, f"{line.name}_run{'' if form.gpu else '[i - from]'}", form)
    return computed(line)


def _carried(line: Line, place: str, form: Form) -> str:
    """The C of a value that runs down or up the rows, from what the row before has left in a place."""
    if line.before:
        return f"const REAL {line.name} = {place}; {place} *= {line.value};"
    if line.form == "RECUR" and line.back:
        return f"const REAL {line.name} = {line.value} + {place}; {place} = {line.by} * {line.name};"
    if line.form == "RECUR":
        carried = f"(j{form.axes - 2} ? {line.by} * {place} : (REAL)-0.0)"
        return f"const REAL {line.name} = {place} = {line.value} + {carried};"
    return f"const REAL {line.name} = {place} {'+' if line.form == 'CUMSUM' else '*'}= {line.value};"


def computed(line: Line) -> str:
    """The C of one value."""
    return f"{'int' if line.test else 'REAL'} {line.name} = {line.value};"


def added(line: Line, place: str, kind: str = "") -> str:
    """A value put together with what is there."""
    if line.form in ("MAX", "MIN"):
        return f"{place} = {larger(line)}({place}, {line.value});"
    return f"{place} += {f'({kind})' if kind else ''}({line.value});"


def larger(line: Line) -> str:
    """The function that an extreme is found by."""
    return "maximum" if line.form == "MAX" else "minimum"


def is_extreme(line: Line) -> bool:
    """Whether a reduction looks for an extreme."""
    return line.form in ("MAX", "MIN")


def start(line: Line) -> str:
    """What a reduction starts from."""
    return {"MAX": "-INFINITY", "MIN": "INFINITY", "PROD": "1"}.get(line.form, "0")


def reduced(line: Line, plan: Plan) -> list[str]:
    """The value of a row reduction, which may be a result."""
    over = " / (REAL)row" if line.form == "MEAN" else ""
    stored = [f"{line.name}_out[r] = {line.name};"] if line.name in plan.stage.stored else []
    return [f"const REAL {line.name} = (REAL){line.name}_total{over};", *stored]


def joined(lines: list[str]) -> str:
    """Lines of C inside a function."""
    return "\n    ".join(lines)


def kind(line: Line) -> str:
    """The type in which a reduction is put together: sums in a wider one."""
    return "REAL" if is_extreme(line) or line.form == "PROD" else "SUM_TYPE"


def far(text: str) -> str:
    """With the runtime's functions where ours have a range."""
    return FAR.sub(r"far_\1(", text)
