"""Run a generated kernel: `launch(kernel, x, a)` gives what `kernel(x, a)` gives, from its C where that fits.

The C is built when a kernel is first launched, for the dtypes and layouts of the arguments, never for their lengths.
Where the arguments are not what the C is for (several float types, integers, containers, no elements), the Python
body runs instead, which is right for everything.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any  # arguments are arbitrary objects

import numpy as np

from srcgrad.opencl.device import Device, current
from srcgrad.opencl.faults import fault, no_double
from srcgrad.opencl.layout import key_of, real_of
from srcgrad.opencl.lines import is_asked, parsed
from srcgrad.opencl.memory import empty, spanned
from srcgrad.opencl.names import identifier
from srcgrad.opencl.prepared import prepared
from srcgrad.opencl.preparing import Pattern, Preparing, pattern_of
from srcgrad.opencl.space import MismatchError
from srcgrad.opencl.steps import Output, Prepared, Step
from srcgrad.opencl.together import Placed
from srcgrad.opencl.writing import Input, Writing
from srcgrad.runtime import sum_to

_MOST = 256  # sets of shapes that a kernel remembers


def launch(function: Callable[..., Any], *args: Any) -> Any:
    """The results of a kernel, as NumPy gives them."""
    try:
        kernel = function.srcgrad_kernel  # type: ignore[attr-defined]
    except AttributeError:
        kernel = function.srcgrad_kernel = Kernel(function)  # type: ignore[attr-defined]
    for value in args:
        if type(value) is not np.ndarray and hasattr(value, "srcgrad_launch"):  # a device array
            return value.srcgrad_launch(kernel, args)
    return kernel.run(args)


class Kernel:
    """A function of the generated text with its C; what it takes to run it is prepared as it is needed."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        code = function.__code__
        self.words = [identifier(argument) for argument in code.co_varnames[: code.co_argcount]]
        self.text = parsed(function.__doc__ or "", self.words)
        self.asked = [is_asked(self.text, word) for word in self.words]
        self.patterns: dict[Any, Pattern | None] = {}
        self.known: dict[Any, Prepared | None] = {}
        self.lock = threading.Lock()

    def run(self, args: tuple[Any, ...]) -> Any:
        """The results for some arguments."""
        device = current()
        try:
            found = self.fitting(args, device)
            return self.function(*args) if found is None else self.launched(found, args, device)
        except device.cl.Error as error:
            device.abandon(lost=not isinstance(error, device.cl.MemoryError))
            nbytes = sum(a.nbytes for a in args if isinstance(a, np.ndarray))
            fault_found = fault(error, self.function.__name__, nbytes, device.cl, device.device)
        raise fault_found  # here, where nothing refers any more to the arrays of the launch

    def fitting(self, args: tuple[Any, ...], device: Device, apart: bool = False) -> Prepared | None:
        """What to launch on a device for some arguments; None if the Python is to run."""
        key = key_of(args)
        if key is None:
            return None
        try:
            return self.known[device.number, device.is_gpu, apart, key]
        except KeyError:
            return self.prepare(args, key, device, apart)

    def prepare(self, args: tuple[Any, ...], key: Any, device: Device, apart: bool) -> Prepared | None:
        """What to launch for arguments of one kind; None if the Python is to run."""
        with self.lock:
            real = real_of(args, self.asked)
            found = None
            if real is not None and real.itemsize == 8 and not device.has_fp64:
                raise no_double(self.function.__name__, device.device)
            if real is not None:
                try:
                    found = self.made(args, real, device, apart)
                except MismatchError:
                    found = None
            if len(self.known) >= _MOST:
                self.known.clear()
            self.known[device.number, device.is_gpu, apart, key] = found
            return found

    def made(self, args: tuple[Any, ...], real: Any, device: Device, apart: bool) -> Prepared:
        """What to launch; MismatchError if the C is not for such arguments."""
        shapes = [np.shape(value) for value in args]
        kind = tuple((shapes.index(shape), *(n != 1 for n in shape)) for shape in shapes)
        if kind not in self.patterns:
            self.patterns[kind] = None
            self.patterns[kind] = pattern_of(self.text, self.words, args)
        pattern = self.patterns[kind]
        if pattern is None:
            raise MismatchError
        work = Preparing(self.function.__name__, pattern.text, self.words, args, real, device, pattern)
        return prepared(work, apart)

    def launched(self, found: Prepared, args: tuple[Any, ...], device: Device) -> Any:
        """Run the C; the Python where parts of an array lie too oddly for kernels to write into them."""
        if found.together is not None:
            placed = found.together.placed(args)
            if placed is not None:
                return self.at_once(found, placed, args, device)
            apart = self.fitting(args, device, apart=True)
            if apart is None:
                return self.function(*args)
            found = apart
        try:
            into = found.writing.memory(args) if found.writing else None
        except MismatchError:
            return self.function(*args)
        slots: list[Any] = [*args, *found.constants]
        slots += [None] * (found.slots - len(slots))
        pending: list[tuple[Step, list[Any], list[Any]]] = []
        given: dict[int, Any] = {}
        for step in found.steps:
            made = [empty(output.shape, output.dtype) for output in step.outputs]
            buffers = [device.taken(one) for one in made]
            self.enqueue(step, slots, given, buffers, device)
            for output, one, buffer in zip(step.outputs, made, buffers, strict=True):
                if output.slot >= 0:
                    slots[output.slot] = one
                    if not output.end and not device.copies:
                        given[output.slot] = buffer, one
            pending.append((step, made, buffers))
            if step.waits or device.copies:
                self.settle(pending, slots, device)
        if found.writing is not None and into is not None:
            self.write(found.writing, into, slots, given, device)
            self.settle(pending, slots, device)
        results = [self.result(slots[slot], kind, args) for slot, kind in found.results]
        return results[0] if len(results) == 1 else tuple(results)

    def at_once(self, found: Prepared, placed: tuple[Placed, int], args: tuple[Any, ...], device: Device) -> Any:
        """Compute and write in one launch."""
        one, (where, low) = found.together, placed
        slots: list[Any] = [*args, *found.constants]
        slots += [None] * (found.slots - len(slots))
        memory = where.memory.from_address(low)
        memory._owner = args
        made = [empty(output.shape, output.dtype) for output in one.outputs]
        buffers = [device.shared(memory), *[device.taken(output) for output in made]]
        passed = self.passed(one.stage.inputs, slots, dict(where.offsets), device)
        passed += [*buffers[1:], *[slots[slot] for slot in one.extra], buffers[0]]
        with self.lock:
            one.kernel.set_args(*one.stage.numbers, *passed, *where.numbers)
            device.run(one.kernel, 1, one.small)
        device.finish(one.small, [memory, *made], buffers)
        for output, array in zip(one.outputs, made, strict=True):
            if output.slot >= 0:
                slots[output.slot] = _ended(output, array) if output.end else array
        results = [self.result(slots[slot], kind, args) for slot, kind in found.results]
        return results[0] if len(results) == 1 else tuple(results)

    def enqueue(self, step: Step, slots: list[Any], given: dict[int, Any], buffers: list[Any], device: Device) -> None:
        """Put one launch into the queue."""
        passed = self.passed(step.inputs, slots, given, device)
        with self.lock:
            step.kernel.set_args(*step.numbers, *passed, *buffers)
            device.run(step.kernel, step.groups, step.small)

    def write(
        self,
        writing: Writing,
        into: tuple[Any, int, list[int]],
        slots: list[Any],
        given: dict[int, Any],
        device: Device,
    ) -> None:
        """Write into arguments, and wait until it is done."""
        memory, places, found = into
        numbers: list[Any] = []
        for put, offset, place in zip(writing.puts, found[::2], found[1::2], strict=True):
            numbers += [offset, place, *put.numbers, *self.passed(put.inputs, slots, given, device)]
        buffer = device.shared(memory)
        with self.lock:
            writing.kernel.set_args(buffer, places, *numbers)
            device.run(writing.kernel, writing.groups(places), writing.small)
        device.finish(writing.small, [memory], [buffer])

    def passed(self, inputs: list[Input], slots: list[Any], given: dict[int, Any], device: Device) -> list[Any]:
        """What a kernel is given for its inputs; `given` has the buffers by slot, with the memory that they are of."""
        passed: list[Any] = []
        for one in inputs:
            value = slots[one.slot]
            if one.layout == "v":
                value = getattr(value, "memory", value)  # of a device array
                passed.append(value.item() if type(value) is np.ndarray else value)
                continue
            known = given.get(one.slot)
            if known is None:
                value = getattr(value, "memory", value)
                if one.copied:
                    value = np.ascontiguousarray(value)
                elif one.span is not None:
                    value = spanned(value, one.span)
                known = given[one.slot] = device.given(value), value
            passed.append(known[0])
            passed += one.strides
        return passed

    def settle(self, pending: list[tuple[Step, list[Any], list[Any]]], slots: list[Any], device: Device) -> None:
        """Wait for what has been launched; then the sums are put together."""
        for step, made, buffers in pending:
            found = device.finish(step.small, made, buffers)
            for output, one in zip(step.outputs, found, strict=True):
                if output.slot >= 0:
                    slots[output.slot] = _ended(output, one) if output.end else one
        pending.clear()

    def result(self, value: Any, kind: str, args: tuple[Any, ...]) -> Any:
        """A value in the type that NumPy would give it."""
        if kind == "array":
            return value
        number = value if isinstance(value, np.generic | float) else np.asarray(value)[()]
        if kind == "float":
            return float(number)
        return sum_to(number, args[self.words.index(kind)]) if kind else number


def _ended(output: Output, found: Any) -> Any:
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
        reduce = np.sum
    if output.end == "host":
        value = reduce(found, axis=output.over)
    elif len(found) == 1:
        value = found[0]
    else:
        value = reduce(found, axis=0)
    value = value.astype(output.real, copy=False) if output.due else output.real.type(value)
    if output.count != 1:
        value = value / output.count
    return value.reshape(output.due) if output.due else value
