"""What a prepared kernel consists of: launches, with what each is given and what becomes of what it writes."""

from __future__ import annotations

from dataclasses import dataclass, field
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
    """One stage: what it is given and what it writes."""

    numbers: list[int]
    inputs: list[Input]
    outputs: list[Output]
    groups: int


@dataclass
class Run:
    """Stages that one kernel runs, one after the other, with nothing for the host to do in between.

    What the kernel is given for stages `before` and `after` them says nothing; `first` is the number of the first of
    these, if there are others.
    """

    kernel: Any
    steps: list[Step]
    small: bool
    waits: bool = True  # whether the host reads a result before what follows
    before: list[Any] = field(default_factory=list)
    after: list[Any] = field(default_factory=list)
    first: int | None = None


@dataclass
class Formed:
    """A stage before it is built: its C, by what it is known, and with what it is launched."""

    name: str
    plan: Plan
    form: Form
    key: tuple[Any, ...]
    numbers: list[int]
    inputs: list[Input]
    little: bool  # work that one group does sooner than several
    small: bool  # whether the device without threads runs it


@dataclass
class Prepared:
    """All launches, and which slots are results."""

    runs: list[Run]
    constants: list[float]
    results: list[tuple[int, str]]  # slot, and how a number is given: ``, `float`, or the argument that it is like
    slots: int
    writing: Writing | None = None
    direct: Any = None  # a Direct, if it is one launch of little work
    numbers: Computed | None = None  # of Python's numbers alone

    def given(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, with what is computed of numbers among them."""
        return (*args, *self.numbers(*args)) if self.numbers else args
