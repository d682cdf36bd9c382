"""Which axes the values of a kernel have: found by laying them over each other as broadcasting does.

Each axis of an argument that is longer than one starts as an axis of its own; where two values meet in an operation
their axes become one. What is left are the axes over which the kernel runs, whatever their lengths.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from srcgrad.opencl.lines import ALL, SCANS, Line, Text

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
