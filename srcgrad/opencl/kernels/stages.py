"""Stages of a kernel: what each computes, sums and scans that end it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from srcgrad.opencl.kernels.axes import MismatchError, Space, members
from srcgrad.opencl.kernels.lines import PLAIN, SCANS, Line, Text, Write, compared, is_dear


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
