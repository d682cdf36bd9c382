"""Steps of a launch: what each is given and writes, what is prepared for it, and how results end."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any  # arrays and pyopencl's objects

import numpy as np

from srcgrad.opencl.devices.device import Device
from srcgrad.opencl.devices.memory import address
from srcgrad.opencl.kernels.axes import Computed, MismatchError, Space, alone, members, space_of
from srcgrad.opencl.kernels.c_functions import prelude
from srcgrad.opencl.kernels.lines import Line, Text, entry
from srcgrad.opencl.kernels.stage_text import Form, Plan, element, numbers_in, offsets, once, parameters, row_lines
from srcgrad.opencl.kernels.stages import Stage, in_parts, stages
from srcgrad.runtime import sum_to

_BLOCK = 4096  # elements of which all writes are done before the next ones


@dataclass(slots=True)
class Input:
    """One input of a stage: where it comes from, how it lies, and the numbers that say so."""

    slot: int
    layout: str
    strides: tuple[int, ...] = ()
    copied: bool = False  # whether it is brought into one piece first
    span: Any = None  # of memory in pieces, what it is from the first element to the last


@dataclass
class Put:
    """One write: the argument, what computes the value, and how the part lies; axes of length one are left out."""

    slot: int
    added: bool
    plan: Plan
    form: Form
    lengths: list[int]
    steps: tuple[int, ...]
    inputs: list[Input]
    split: bool  # whether it is divided along its first axis, or belongs to one place of that axis
    numbers: list[int] = field(init=False)
    places: int = field(init=False)  # along the axis that is divided
    inner: int = field(init=False)  # elements from the first to the last of what belongs to one place
    whole: int = field(init=False)  # elements from the first to the last

    def __post_init__(self) -> None:
        spans = [(n - 1) * step for n, step in zip(self.lengths, self.steps, strict=True)]
        self.inner, self.whole = 1 + sum(spans[int(self.split) :]), 1 + sum(spans)
        self.places = self.lengths[0] if self.split else 1
        sizes = [math.prod(self.lengths[:-1]), self.lengths[-1], *self.lengths[1:-1]]
        self.numbers = [self.places, *self.steps, *sizes]


@dataclass
class Writing:
    """The launch, and where parts have been found to lie."""

    kernel: Any
    puts: list[Put]
    step: int  # the steps of the axis that is divided
    size: int
    small: bool
    itemsize: int
    device: Device
    known: dict[tuple[int, ...], tuple[int, int, list[int]]] = field(default_factory=dict)

    def memory(self, slots: Sequence[object]) -> tuple[Any, int, list[int]]:
        """What a buffer wraps, how many places there are, and for each part its offset and its first place.

        MismatchError if the parts lie so that groups would meet.
        """
        parts = [slots[put.slot] for put in self.puts]
        starts = [address(part) for part in parts]
        low = min(starts)
        key = tuple((start - low) // self.itemsize for start in starts)
        known = self.known.get(key)
        if known is None:
            known = self.known[key] = _placed(key, self.puts, self.step)
        last, count, places = known
        memory = (ctypes.c_char * (last * self.itemsize)).from_address(low)
        memory._owner = parts  # type: ignore[attr-defined]
        return memory, count, places

    def groups(self, places: int) -> int:
        """How many groups share the work."""
        return 1 if self.small else self.device.groups(places, self.size)


def _placed(offsets: tuple[int, ...], puts: list[Put], step: int) -> tuple[int, int, list[int]]:
    """How many elements and places there are, and for each part its offset and its first place.

    MismatchError if the inner axes of a part reach from one place into the next.
    """
    for shift in dict.fromkeys(-offset % step for offset in offsets):
        if all((o + shift) % step + put.inner <= step for o, put in zip(offsets, puts, strict=True)):
            places = [(offset + shift) // step for offset in offsets]
            count = max(place + put.places for place, put in zip(places, puts, strict=True))
            last = max(offset + put.whole for offset, put in zip(offsets, puts, strict=True))
            return last, count, [number for pair in zip(offsets, places, strict=True) for number in pair]
    raise MismatchError


def written(
    puts: list[Put], name: str, size: int, small: bool, real: Any, device: Device, kernels: dict[object, object]
) -> Writing:
    """The launch for some writes; MismatchError where there is no axis along which they can be divided."""
    step = max(put.steps[0] for put in puts)
    if any(put.inner > step for put in puts):
        raise MismatchError
    key = ("writes", *((put.form, put.split, put.steps[-1] == 1) for put in puts), device.number, small)
    kernel = kernels.get(key)
    if kernel is None:
        kernel = kernels[key] = device.build(_text(puts, f"{name}_write"), f"{name}_write", small)
        numbers: list[Any] = [None, np.uint64]
        for put in puts:
            numbers += [np.int64] * (3 + len(put.steps)) + numbers_in(put.plan, put.form, real)[:-1]
        kernel.set_scalar_arg_dtypes(numbers)
    return Writing(kernel, puts, step, size, small, real.itemsize, device)


def _text(puts: list[Put], name: str) -> str:
    functions = [_function(put, f"{name}_{k}") for k, put in enumerate(puts, 1)]
    given, work = ["__global REAL* restrict memory", "const ulong places"], []
    for k, put in enumerate(puts, 1):
        own = [f"const long off_{k}", f"const long place_{k}", f"const long n_{k}"]
        own += [f"const long step_{k}_{axis}" for axis in range(len(put.steps))]
        given += own + [f"{parameter}_{k}" for parameter in parameters(put.plan, put.form)[:-1]]
        work.append(_call(put, f"{name}_{k}", k))
    whole = all(put.split and len(put.steps) == 1 for put in puts)
    lines = "\n        ".join(work)
    block = _BLOCK if whole else 1
    body = f"""{{
    const size_t share = (places + groups - 1) / groups;
    const size_t first = g * share < places ? g * share : places;
    const size_t last = first + share < places ? first + share : places;
    for (size_t b = first; b < last; b += {block}) {{
        const long begin = b, end = b + {block} < last ? b + {block} : last;
        {lines}
    }}
}}
"""
    texts = "\n".join(functions)
    return "\n".join([prelude(puts[0].form.real, texts), texts, entry(name, given, body)])


def _call(put: Put, name: str, k: int) -> str:
    """What is done of one write in the places from `begin` to `end`."""
    passed = [f"{parameter.split()[-1]}_{k}" for parameter in parameters(put.plan, put.form)[:-1]]
    passed += [f"memory + off_{k}", *(f"step_{k}_{axis}" for axis in range(len(put.steps)))]
    inside = f"const long from = begin > place_{k} ? begin - place_{k} : 0, to = end < place_{k} + n_{k} ? "
    inside += f"end - place_{k} : n_{k};"
    return f"{{ {inside} if (from < to) {name}({', '.join(passed)}, from, to); }}"


def _function(put: Put, name: str) -> str:
    """The function that does one write, for a range of the axis that is divided if the part has it."""
    axes = len(put.steps)
    given = [*parameters(put.plan, put.form)]
    out = given[-1].split()[-1]
    given += [f"const long step_{axis}" for axis in range(axes)] + ["const long from", "const long to"]
    (one,) = put.plan.passes
    work = "\n        ".join(element(one, put.plan, put.form, "0"))
    if put.added:
        work = work.replace(f"{out}[at] = ", f"{out}[at] += ")
    last = "i" if put.steps[-1] == 1 else f"(long)i * step_{axes - 1}"
    bounds = "from", "to"
    loops = []
    for axis in range(axes - 1):
        low, high = ("from", "to") if axis == 0 and put.split else ("0", f"d{axis}")
        loops.append(f"for (size_t j{axis} = {low}; j{axis} < {high}; j{axis}++)")
    if axes > 1 or not put.split:
        bounds = "0", "row"
    size = f"const size_t d0 = rows{''.join(f' / d{k}' for k in range(1, axes - 1))};" if axes > 1 else ""
    start = " + ".join(f"(long)j{k} * step_{k}" for k in range(axes - 1)) or "0"
    before = "\n    ".join(once(put.plan, put.form))
    rows = "\n        ".join([*offsets(put.plan, put.form), *row_lines(one, put.plan)])
    listed = ", ".join(given).replace(" restrict", "")  # the kernel says so; Oclgrind does not know it of functions
    return f"""static inline __attribute__((always_inline)) void {name}({listed}) {{
    {size}
    {before}
    {" ".join(loops)} {{
        {rows}
        const long start = {start};
        for (size_t i = {bounds[0]}; i < {bounds[1]}; i++) {{
        const size_t at = start + {last};
        {work}
        }}
    }}
}}"""


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

    def given(self, args: tuple[object, ...]) -> tuple[Any, ...]:
        """The arguments, with what is computed of numbers among them."""
        return (*args, *self.numbers(*args)) if self.numbers else args


@dataclass
class Pattern:
    """What is known of a kernel for arguments with certain long axes."""

    text: Text
    space: Space
    stages: list[Stage]
    writes: list[Stage]  # per value that is written, what computes it
    numbers: Computed | None  # what is computed of Python's numbers alone
    plans: dict[object, Plan] = field(default_factory=dict)
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


def ended(output: Output, found: Any) -> Any:
    """A sum from its parts."""
    line = output.line
    assert line is not None, "a reduction"
    if output.end == "parts":  # the sum of all parts before each
        found = np.asarray(found)  # a device's array is read
        order = slice(None, None, -1 if line.back else 1)
        return np.concatenate([np.full(1, -0.0, found.dtype), np.cumsum(found[order])[:-1]])[order].copy()
    if line.form in ("MAX", "MIN"):
        reduce: Any = np.max if line.form == "MAX" else np.min
    else:
        reduce = np.prod if line.form == "PROD" else np.sum
    if output.end == "host":
        value = np.reshape(reduce(found, axis=output.over), output.due)  # without axes of length one
    elif len(found) == 1:
        value = found[0]
    else:
        value = reduce(found, axis=0)
    value = value.astype(output.real, copy=False) if output.due else output.real.type(value)
    if output.count != 1:
        value = value / output.count
    return value.reshape(output.due) if output.due else value


def result(value: object, kind: str, args: tuple[object, ...], words: list[str]) -> Any:
    """A value in the type that NumPy would give it; `words` are the names of the arguments."""
    if kind == "array":
        return value
    number = value if isinstance(value, np.generic | float) else np.asarray(value)[()]
    if kind == "float":
        return float(number)
    return sum_to(number, args[words.index(kind)]) if kind else number
