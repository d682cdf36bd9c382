"""What is known of a kernel for arguments with certain long axes, and the work to prepare it for some of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any  # arrays, dtypes and pyopencl's objects

import numpy as np

from srcgrad.opencl.alone import Computed, alone
from srcgrad.opencl.device import Device
from srcgrad.opencl.lines import Text
from srcgrad.opencl.passes import Plan
from srcgrad.opencl.scans import in_parts
from srcgrad.opencl.space import MismatchError, Space, members, space_of
from srcgrad.opencl.stages import Stage, stages


@dataclass
class Pattern:
    """What is known of a kernel for arguments with certain long axes."""

    text: Text
    space: Space
    stages: list[Stage]
    writes: list[Stage]  # per value that is written, what computes it
    numbers: Computed | None  # what is computed of Python's numbers alone
    plans: dict[Any, Plan] = field(default_factory=dict)
    kernels: dict[Any, Any] = field(default_factory=dict)
    programs: dict[Any, Any] = field(default_factory=dict)  # in which kernels of that key are


@dataclass
class Preparing:
    """The work for one set of arguments."""

    name: str
    text: Text
    arguments: list[str]
    args: tuple[Any, ...]
    real: Any
    device: Device
    pattern: Pattern
    lengths: dict[int, int] = field(default_factory=dict)
    slots: dict[str, int] = field(default_factory=dict)
    constants: list[float] = field(default_factory=list)

    def shape(self, axes: tuple[int | None, ...]) -> tuple[int, ...]:
        """The lengths of axes."""
        return tuple(1 if axis is None else self.lengths[axis] for axis in axes)

    def size(self, axes: Any) -> int:
        """The product of the lengths of axes."""
        return math.prod(self.lengths[axis] for axis in members(tuple(axes)))


def pattern_of(text: Text, arguments: list[str], args: tuple[Any, ...], real: Any) -> Pattern:
    """Axes and stages; MismatchError where the kernel is not for such arguments."""
    numbers: Computed | None = None
    if real.itemsize == 4:
        text, numbers = alone(text, arguments, args)
    shapes = {name: np.shape(value) for name, value in zip(arguments, args, strict=True)}
    shapes |= dict.fromkeys(text.numbers, ())
    long = {name: tuple(n != 1 for n in shape) for name, shape in shapes.items()}
    first: dict[tuple[int, ...], str] = {}
    alike = {name: other for name, shape in shapes.items() if (other := first.setdefault(shape, name)) != name}
    try:
        return _pattern(text, space_of(text, long, alike), numbers)
    except MismatchError:  # two arguments of one shape may have axes of their own: u[:, None] * v
        return _pattern(text, space_of(text, long, {}), numbers)


def _pattern(text: Text, space: Space, numbers: Computed | None) -> Pattern:
    text = in_parts(text, space)
    return Pattern(text, space, *stages(text, space), numbers)
