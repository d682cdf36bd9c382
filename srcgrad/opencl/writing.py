"""Writes into parts of one array: a launch of its own, when all that is read has been read.

The array is divided along the axis whose steps are longest; each group takes a range of it, and does there what every
write does there, in their order. So no two groups touch one element, and each element is changed as NumPy changes it.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any  # arrays and pyopencl's objects

import numpy as np

from srcgrad.opencl.device import Device
from srcgrad.opencl.entry import entry
from srcgrad.opencl.functions import prelude
from srcgrad.opencl.memory import address
from srcgrad.opencl.passes import Plan
from srcgrad.opencl.source import Form, element, numbers_in, offsets, once, parameters, row_lines
from srcgrad.opencl.space import MismatchError

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

    def memory(self, slots: Sequence[Any]) -> tuple[Any, int, list[int]]:
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
    puts: list[Put], name: str, size: int, small: bool, real: Any, device: Device, kernels: dict[Any, Any]
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
