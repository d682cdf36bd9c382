"""Running sums and products: along which axis, and how that lies in a stage."""

from __future__ import annotations

from dataclasses import replace

from srcgrad.opencl.lines import SCANS, Line, Text
from srcgrad.opencl.space import MismatchError, Space, members


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
