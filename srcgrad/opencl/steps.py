"""What a prepared kernel consists of: launches, with what each is given and what becomes of what it writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any  # dtypes and pyopencl's objects

from srcgrad.opencl.alone import Computed
from srcgrad.opencl.lines import Line
from srcgrad.opencl.passes import Plan
from srcgrad.opencl.source import Form
from srcgrad.opencl.writing import Input, Writing


@dataclass
class Output:
    """Memory that a stage writes: its shape and dtype, and what becomes of it."""

    slot: int
    shape: tuple[int, ...]
    dtype: Any
    end: str = ""
    line: Line | None = None
    due: tuple[int, ...] = ()  # the shape of the value
    real: Any = None  # its dtype
    over: tuple[int, ...] = ()  # for `host`, the axes that NumPy reduces
    count: int = 1  # by which a mean divides


@dataclass
class Step:
    """One launch."""

    kernel: Any
    numbers: list[int]
    inputs: list[Input]
    outputs: list[Output]
    groups: int
    small: bool
    waits: bool  # whether the host reads a result before the next launch


@dataclass
class Formed:
    """A stage before it is built: its C, by what it is known, and with what it is launched."""

    name: str
    plan: Plan
    form: Form
    key: tuple[Any, ...]
    numbers: list[int]
    inputs: list[Input]
    small: bool


@dataclass
class Prepared:
    """All launches, and which slots are results."""

    steps: list[Step]
    constants: list[float]
    results: list[tuple[int, str]]  # slot, and how a number is given: ``, `float`, or the argument that it is like
    slots: int
    writing: Writing | None = None
    direct: Any = None  # a Direct, if it is one launch of little work
    numbers: Computed | None = None  # of Python's numbers alone

    def given(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, with what is computed of numbers among them."""
        return (*args, *self.numbers(*args)) if self.numbers else args
