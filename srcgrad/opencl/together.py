"""A step in place as one launch: what is computed of an array's elements, and the writes into its parts after it.

One item goes through the array along its first axis. Before it writes into a place it computes all that reads from
there, and a row is still in the cache when it is written. All writes of an element are done at once, in their order.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any  # arrays and pyopencl's objects

from srcgrad.opencl.inplace import text_of
from srcgrad.opencl.memory import address, addresses
from srcgrad.opencl.preparing import Preparing
from srcgrad.opencl.steps import Formed, Output
from srcgrad.opencl.writing import Input, Put

_MANY = (1 << 62) - 1


@dataclass
class Placed:
    """Where parts and operands have been found to lie: the numbers that say so, and the memory they share."""

    memory: Any  # its type
    offsets: dict[int, tuple[int]]  # per operand in that memory, by slot
    numbers: list[int]


@dataclass
class Together:
    """The launch: the operands in the memory that it changes; others lie elsewhere."""

    kernel: Any
    stage: Formed
    puts: list[Put]
    outputs: list[Output]
    inside: list[Input]  # operands in the memory that is written
    extra: list[int]  # slots of numbers that only writes read
    small: bool
    itemsize: int
    ring: int = _MANY  # how many rows are kept of values that only writes read, less one; a power of two, less one
    slots: list[int] = field(init=False)
    known: dict[tuple[int, ...], Placed | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.slots = [*dict.fromkeys([put.slot for put in self.puts] + [one.slot for one in self.inside])]

    def placed(self, starts: Sequence[int]) -> tuple[Placed, int] | None:
        """Where things lie, from the addresses of the slots, and the first one; None where one launch cannot do it."""
        low = min(starts)
        key = tuple([start - low for start in starts])
        try:
            found = self.known[key]
        except KeyError:
            found = self.known[key] = self._found(key)
        return None if found is None else (found, low)

    def _found(self, key: tuple[int, ...]) -> Placed | None:
        if any(start % self.itemsize for start in key):
            return None
        starts = {slot: start // self.itemsize for slot, start in zip(self.slots, key, strict=True)}
        step = self.puts[0].steps[0]
        lengths = self.puts[0].lengths
        spans = [(starts[put.slot], put.inner, put.whole) for put in self.puts]
        spans += [(starts[one.slot], *_reach(one, lengths)) for one in self.inside]
        size = max(start + whole for start, _, whole in spans)
        for shift in dict.fromkeys(-start % step for start, _, _ in spans):
            if all((start + shift) % step + inner <= step for start, inner, _ in spans):
                break
        else:
            return None
        places = [(start + shift) // step for start, _, _ in spans]
        written = places[: len(self.puts)]
        columns = [(start + shift) % step for start, _, _ in spans[: len(self.puts)]] if lengths[1:] else written
        apart = [max(written) - min(written), max(columns) - min(columns)]
        if any(2 * gap > length for gap, length in zip(apart, lengths, strict=False)):
            return None  # most of what is written is written once
        if max(written) - min(places) > self.ring:
            return None
        numbers = [max(written) + lengths[0], min(places), step, shift, self.ring]
        numbers += [number for pair in zip(written, columns, strict=True) for number in pair]
        return Placed(
            ctypes.c_char * (size * self.itemsize), {one.slot: (starts[one.slot],) for one in self.inside}, numbers
        )


def _reach(one: Input, lengths: list[int]) -> tuple[int, int]:
    """How many elements lie from the first to the last, of what belongs to one place, and of all."""
    steps = [*one.strides, 1][: len(lengths)] if one.layout[0] == "1" else [*one.strides, 0][: len(lengths)]
    spans = [(n - 1) * step for n, step in zip(lengths, steps, strict=True)]
    return 1 + sum(spans[1:]), 1 + sum(spans)


def fits(stage: Formed, puts: list[Put], results: Sequence[str]) -> bool:
    """Whether the values of a stage, and their writes, can be one loop over the places of the array."""
    plan, axes = stage.plan, len(stage.plan.stage.axes)
    if stage.form.gpu or axes not in (1, 2) or stage.form.axes != axes or any("t" in one for one in stage.form.layouts):
        return False
    if len(plan.passes) != 1 or plan.scans or plan.scratch or not set(plan.stage.ends.values()) <= {"total"}:
        return False
    first = puts[0].steps
    for put in puts:
        if put.plan.stage.axes != plan.stage.axes or put.steps != first or put.steps[-1] != 1:
            return False
        values = [n for n, one in zip(put.plan.stage.inputs, put.inputs, strict=True) if one.layout != "v"]
        numbers = [n for n, one in zip(put.plan.stage.inputs, put.inputs, strict=True) if one.layout == "v"]
        if not set(values) <= set(plan.stage.stored) or set(numbers) & {*results, *plan.stage.ends, *plan.stage.stored}:
            return False
        if any(plan.level[name] != "element" for name in values):
            return False
    return True


def together(
    stage: Formed, puts: list[Put], work: Preparing, outputs: list[Output], ring: list[str]
) -> Together | None:
    """The launch for arguments that lie like these; None where operands lie in the way."""
    args = work.args
    low = min(address(args[put.slot]) for put in puts)
    high = max(address(args[put.slot]) + put.whole * work.real.itemsize for put in puts)
    inside: dict[str, Input] = {}
    for name, one in zip(stage.plan.stage.inputs, stage.inputs, strict=True):
        if one.layout == "v":
            continue
        if one.copied:
            return None
        value = args[one.slot]
        reach = 0 if value.size == 0 else _bytes(value)
        start = address(value)
        if start >= high or start + reach <= low:
            continue
        if (
            one.layout.endswith("b")
            or (one.layout[0] == "s" and len(puts[0].lengths) == 1)
            or [*one.strides, 1][0] != puts[0].steps[0]
        ):
            return None
        inside[name] = one
    known = {name for name, one in zip(stage.plan.stage.inputs, stage.inputs, strict=True) if one.layout == "v"}
    extra: dict[str, int] = {}
    for put in puts:
        for name, one in zip(put.plan.stage.inputs, put.inputs, strict=True):
            if one.layout == "v" and name not in known:
                extra[name] = one.slot
    within, extras, real = [*inside.values()], [*extra.values()], work.real
    made = Together(None, stage, puts, outputs, within, extras, stage.small, real.itemsize)
    found = made.placed(addresses(args, made.slots))
    if found is None:
        return None
    if ring:
        places, low = found[0].numbers[:2]
        made.ring = (1 << (places - stage.numbers[0] - low).bit_length()) - 1
        made.known.clear()
        for output in outputs:
            if output.slot in [work.slots[name] for name in ring]:
                output.shape = (made.ring + 1, stage.numbers[1])
    programs = work.pattern.programs
    key = ("together", stage.key, stage.small, tuple(inside), tuple((put.form, put.added) for put in puts))
    name = f"{stage.name}_in_place"
    if key not in programs:
        text = text_of(name, stage, puts, list(inside), list(extra), ring)
        programs[key] = work.device.program(text, stage.small)
    made.kernel = work.device.kernel(programs[key], name)
    return made


def _bytes(value: Any) -> int:
    return int(sum((n - 1) * abs(s) for n, s in zip(value.shape, value.strides, strict=True)) + value.itemsize)
