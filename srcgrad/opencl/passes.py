"""How often a stage goes over its rows, and what it does each time.

What a row adds up to is known when a pass over it has ended; what reads it belongs to the next pass. A value of
elements that two passes need is computed twice where that is cheap, and is otherwise kept in memory between them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from srcgrad.opencl.lines import PLAIN, Line, compared, is_dear
from srcgrad.opencl.scans import directions
from srcgrad.opencl.space import Space, members
from srcgrad.opencl.stages import Stage

_CHEAP = 4


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
    found = _needed(number, [*(read for line in made.sums for read in line.reads), *made.kept], work, made)
    made.lines = [line for line in work.stage.lines if line.name in found]
    made.loads = [name for name in work.stage.inputs if name in found]
    return made


def _needed(number: int, todo: list[str], work: _Work, made: Pass) -> set[str]:
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
