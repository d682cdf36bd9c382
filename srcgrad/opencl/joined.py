"""The kernels of the stages of a launch, and which of them run without the host in between.

PoCL takes 70 ms for a kernel and its program, however little they do. So its CPU devices are given one kernel for all
stages, all of which run there on one device; it is told what stages to run. On the device without threads those that
need nothing of the host in between are one launch; with threads each has groups of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any  # pyopencl's objects, and arguments of kernels

import numpy as np

from srcgrad.opencl.preparing import Preparing
from srcgrad.opencl.program import text_of
from srcgrad.opencl.source import numbers_in
from srcgrad.opencl.steps import Formed, Run, Step
from srcgrad.opencl.writing import Input

_MOST = 120  # arguments of a kernel


@dataclass
class Joined:
    """A kernel of some stages."""

    kernel: Any
    program: Any
    formed: list[Formed]


def built(formed: list[Formed], work: Preparing) -> list[Joined]:
    """Kernels for all stages, which are built where they are not there yet."""
    device = work.device
    if not device.is_pocl or device.is_gpu or device.copies:
        return _apart(formed, work)
    small = all(one.small for one in formed)
    for one in formed:
        one.small = small
    pieces = _pieces(formed, work)
    return [_joined(piece, work, work.name if len(pieces) == 1 else f"{piece[0].name}_on") for piece in pieces]


def _apart(formed: list[Formed], work: Preparing) -> list[Joined]:
    """A kernel for each stage; those that run on one queue are one program."""
    known = work.pattern.kernels
    for small in (False, True):
        new = [one for one in formed if one.small == small and (one.key, small) not in known]
        text = text_of([(one.name, one.plan, one.form) for one in new]) if new else ""
        for one in new:
            _build((one.key, small), text, one.name, [one], work)
    programs = work.pattern.programs
    return [Joined(known[one.key, one.small], programs[one.key, one.small], [one]) for one in formed]


def _joined(piece: list[Formed], work: Preparing, name: str) -> Joined:
    """One kernel for stages that follow each other."""
    if len(piece) == 1:
        return _apart(piece, work)[0]
    key = tuple(one.key for one in piece), piece[0].small
    if key not in work.pattern.kernels:
        text = text_of([(one.name, one.plan, one.form) for one in piece], name)
        _build(key, text, name, piece, work)
    return Joined(work.pattern.kernels[key], work.pattern.programs[key], piece)


def _build(key: Any, text: str, name: str, formed: list[Formed], work: Preparing) -> None:
    """Build the kernel of some stages, and remember it."""
    small = formed[0].small
    kernel = work.pattern.kernels[key] = work.device.build(text, name, small)
    work.pattern.programs[key] = work.device.program(text, small)
    numbers = [number for one in formed for number in numbers_in(one.plan, one.form, work.real)]
    kernel.set_scalar_arg_dtypes([*numbers, *([np.uint32] * 2 if len(formed) > 1 else [])])


def _pieces(formed: list[Formed], work: Preparing) -> list[list[Formed]]:
    """Stages that follow each other and together have no more arguments than a kernel may have."""
    made: list[list[Formed]] = []
    total = 0
    for one in formed:
        own = len(numbers_in(one.plan, one.form, work.real))
        total += own
        if not made or total > _MOST:
            made.append([])
            total = own
        made[-1].append(one)
    return made


def runs_of(joined: Sequence[Joined], steps: Sequence[Step], work: Preparing) -> list[Run]:
    """What is launched at once: up to where a stage is given what the host has from an earlier one."""
    made: list[Run] = []
    left = iter(steps)
    written: dict[int, bool] = {}  # by slot, whether it is parts of a sum, which the host puts together
    for one in joined:
        blanks = [[None if n is None else 0 for n in numbers_in(f.plan, f.form, work.real)] for f in one.formed]
        for number, formed in enumerate(one.formed):
            step = next(left)
            waits = any(written.get(given.slot, False) or _is_number(given, written) for given in step.inputs)
            if made and (waits or number == 0):
                made[-1].waits = waits or made[-1].small != formed.small
                written = {} if made[-1].waits else written
            if waits or number == 0:
                made.append(Run(one.kernel, [], formed.small))
                made[-1].first = number if len(one.formed) > 1 else None
                made[-1].before = [blank for each in blanks[:number] for blank in each]
            made[-1].steps.append(step)
            made[-1].after = [blank for each in blanks[number + 1 :] for blank in each]
            written |= {output.slot: bool(output.end) for output in step.outputs}
    return made


def _is_number(given: Input, written: dict[int, bool]) -> bool:
    """Whether the host hands a number on from one stage to another."""
    return given.layout == "v" and given.slot in written
