"""A kernel that is one launch of little work: what differs from the launch before is set, and nothing else.

To set an argument, or to make a buffer, takes as long as to compute with hundreds of elements. So each set of shapes
has a kernel object of its own, whose arguments stay as they were set; a buffer is known by the address of its memory,
which on a CPU is used as it is. Numbers that are found lie where those of the last launch lay.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any  # arguments, arrays and pyopencl's objects

import numpy as np

from srcgrad.opencl.ends import ended, result
from srcgrad.opencl.memory import address, addresses, empty
from srcgrad.opencl.preparing import Preparing
from srcgrad.opencl.steps import Formed, Output, Run, Step
from srcgrad.opencl.together import Placed, Together

_BYTES = 256  # of an argument, for each address at which it is known
_FEWEST = 8  # addresses
_MOST = 1024
_NUMBERS: dict[Any, Any] = {np.dtype(np.float32): ctypes.c_float, np.dtype(np.float64): ctypes.c_double}


@dataclass(slots=True)
class Memory:
    """An argument of the kernel object that is an array: its place, the type of its memory, and buffers by address."""

    place: int
    kind: Any
    made: Callable[[Any], Any]  # the buffer for some memory
    most: int = 0
    known: dict[int, Any] = field(default_factory=dict)
    last: int = 0  # where what is set lies

    def __post_init__(self) -> None:
        self.most = _most(self.kind)

    def set(self, kernel: Any, start: int) -> None:
        """Let the kernel object have what lies at an address."""
        self.last = 0
        buffer = self.known.get(start)
        if buffer is None:
            if len(self.known) >= self.most:
                self.known.clear()
            buffer = self.known[start] = self.made(self.kind.from_address(start))
        kernel.set_arg(self.place, buffer)
        self.last = start


def _most(kind: Any) -> int:
    return min(_MOST, max(_FEWEST, ctypes.sizeof(kind) // _BYTES))


class Direct:
    """One launch, for arguments of certain types, shapes and strides."""

    def __init__(self, one: Run | Together, work: Preparing, results: list[tuple[int, str]]) -> None:
        self.device, self.small = work.device, one.small
        self.kernel = one.kernel  # which nothing else uses
        self.lock = threading.Lock()
        self.number = _NUMBERS[work.real]
        self.numbers: list[tuple[int, int]] = []  # place and slot of each argument that is a number
        self.values: list[Any] = []  # what they are set to
        self.reads: list[Memory] = []
        self.slots: list[int] = []  # of what is read
        self.offsets: list[tuple[int, int]] = []  # place and slot of each operand in the memory that is written
        self.together = one if isinstance(one, Together) else None
        self.seen: dict[tuple[int, ...], tuple[Placed, int, int, Any]] = {}
        self.entry: Any = None  # what of these is set
        stage = one.stage if isinstance(one, Together) else one.steps[0]
        outputs = one.outputs if isinstance(one, Together) else one.steps[0].outputs
        place = self._laid(stage, work)
        self.outputs = []
        for output in outputs:
            memory = Memory(place, ctypes.c_char * (math.prod(output.shape) * output.dtype.itemsize), self.device.taken)
            inner = output.end == "total" or output.slot not in [slot for slot, _ in results]
            kept = np.empty(output.shape, output.dtype) if inner else None
            self.outputs.append((output, memory, kept, 0 if kept is None else address(kept)))
            place += 1
        for slot in self.together.extra if self.together else []:
            self._number(place, slot, work)
            place += 1
        self.memory = place  # that is written, and the numbers that say where
        made = {output.slot: (k, output) for k, output in enumerate(outputs)}
        self.results = [
            _of_output(*made[slot], kind, work.arguments) if slot in made else _of_argument(slot, kind, work.arguments)
            for slot, kind in results
        ]

    def _laid(self, one: Step | Formed, work: Preparing) -> int:
        """Set what never changes of what is read, and note the rest; the place after it."""
        inside = [operand.slot for operand in self.together.inside] if self.together else []
        self._set(0, one.numbers)
        place = len(one.numbers)
        for operand in one.inputs:
            if operand.layout == "v":
                self._number(place, operand.slot, work)
            elif operand.slot in inside:
                self.offsets.append((place, operand.slot))
            else:
                kind = operand.span or ctypes.c_char * work.args[operand.slot].nbytes
                self.reads.append(Memory(place, kind, self.device.given))
                self.slots.append(operand.slot)
            self._set(place + 1, operand.strides)
            place += 1 + len(operand.strides)
        return place

    def _number(self, place: int, slot: int, work: Preparing) -> None:
        if slot < len(work.args):
            self.numbers.append((place, slot))
            self.values.append(None)
        else:
            self.kernel.set_arg(place, self.number(work.constants[slot - len(work.args)]))

    def _set(self, place: int, numbers: Iterable[int]) -> None:
        for k, number in enumerate(numbers):
            self.kernel.set_arg(place + k, ctypes.c_int64(number))

    def __call__(self, args: tuple[Any, ...]) -> Any:
        """The results; None where arrays lie so that one launch cannot do it."""
        device, kernel, made = self.device, self.kernel, []
        with self.lock:
            if device.memory != "shared":
                self._forget()
            reads = addresses(args, self.slots)
            if self.together is not None and not self._placed(args, reads):
                return None
            for k, (place, slot) in enumerate(self.numbers):
                value = args[slot]
                if value is not self.values[k]:
                    array = type(value) is np.ndarray
                    kernel.set_arg(place, self.number(value.item() if array else value))
                    self.values[k] = None if array else value
            for memory, start in zip(self.reads, reads, strict=True):
                if start != memory.last:
                    memory.set(kernel, start)
            for output, memory, kept, start in self.outputs:
                one = kept
                if one is None:
                    one = empty(output.shape, output.dtype)
                    start = address(one)
                if start != memory.last:
                    memory.set(kernel, start)
                made.append(one)
            device.run(kernel, 1, self.small)
            device.finish(self.small, *(self._copied(made) if device.memory != "shared" else ([], [])))
            found = [one(made, args) for one in self.results]
        return found[0] if len(found) == 1 else tuple(found)

    def _placed(self, args: tuple[Any, ...], reads: list[int]) -> bool:
        """Set the memory that is written, and where in it things lie; whether it can be."""
        assert self.together is not None, "a step in place"
        starts = tuple(addresses(args, self.together.slots))
        found = self.seen.get(starts)
        if found is None:
            placed = self.together.placed(starts)
            if placed is None:
                return False
            where, low = placed
            if len(self.seen) >= _most(where.memory):
                self.seen.clear()
            buffer = self.device.shared(where.memory.from_address(low))
            found = self.seen[starts] = where, low, low + ctypes.sizeof(where.memory), buffer
        where, low, high, buffer = found
        for memory, start in zip(self.reads, reads, strict=True):
            if start < high and low < start + ctypes.sizeof(memory.kind):
                return False
        if found is not self.entry:
            self.kernel.set_arg(self.memory, buffer)
            if self.entry is None or where is not self.entry[0]:
                self.entry = None
                self._set(self.memory + 1, where.numbers)
                for place, slot in self.offsets:
                    self._set(place, where.offsets[slot])
            self.entry = found
        return True

    def _forget(self) -> None:
        """Where memory is not shared, each launch has buffers of its own."""
        self.seen.clear()
        for memory in [*self.reads, *(memory for _, memory, _, _ in self.outputs)]:
            memory.known.clear()
            memory.last = 0

    def _copied(self, made: list[Any]) -> tuple[list[Any], list[Any]]:
        """What is brought back: arrays, and their buffers."""
        arrays, buffers = [*made], [memory.known[memory.last] for _, memory, _, _ in self.outputs]
        if self.entry is not None:
            where, low, _, buffer = self.entry
            arrays.append(where.memory.from_address(low))
            buffers.append(buffer)
        return arrays, buffers


Results = Callable[[list[Any], tuple[Any, ...]], Any]  # one of them, from what was written and the arguments


def _of_argument(slot: int, kind: str, words: list[str]) -> Results:
    """A result that is an argument."""
    return lambda made, args: result(args[slot], kind, args, words)


def _of_output(k: int, output: Output, kind: str, words: list[str]) -> Results:
    """A result that was written: what most launches give without much ado."""
    if kind == "array" and not output.end:
        return lambda made, args: made[k]
    if output.end == "total" and output.count == 1 and not output.due and kind in ("", "float"):
        real = output.real.type
        if kind:
            return lambda made, args: float(real(made[k].item()))
        return lambda made, args: real(made[k].item())
    if output.end:
        return lambda made, args: result(ended(output, made[k]), kind, args, words)
    return lambda made, args: result(made[k], kind, args, words)
