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

from srcgrad.opencl.devices.device import Device, empty, fault, no_double, spanned
from srcgrad.opencl.devices.trusted import current
from srcgrad.opencl.kernels.c_functions import identifier
from srcgrad.opencl.kernels.lines import MismatchError, is_asked, key_of, parsed, real_of
from srcgrad.opencl.launches.prepare import prepared
from srcgrad.opencl.launches.steps import (
    Input,
    Pattern,
    Prepared,
    Preparing,
    Run,
    Step,
    Writing,
    ended,
    pattern_of,
    result,
)

_NUMBERS = frozenset((float, int, np.float64))
_MOST = 256  # sets of shapes that a kernel remembers
Pending = tuple[Step, bool, list[Any], list[Any]]  # what was launched, on which queue, what it writes, the buffers


def launch(function: Callable[..., object], *args: object) -> Any:
    """The results of a kernel, as NumPy gives them; numbers alone are computed by the Python."""
    for value in args:
        if type(value) not in _NUMBERS:
            break
    else:
        return function(*args)
    try:
        kernel = function.srcgrad_kernel  # type: ignore[attr-defined]
    except AttributeError:
        kernel = function.srcgrad_kernel = Kernel(function)  # type: ignore[attr-defined]
    return kernel.run(args)


class Kernel:
    """A function of the generated text with its C; what it takes to run it is prepared as it is needed."""

    def __init__(self, function: Callable[..., object]) -> None:
        self.function = function
        code = function.__code__
        self.words = [identifier(argument) for argument in code.co_varnames[: code.co_argcount]]
        self.text = parsed(function.__doc__ or "", self.words)
        self.asked = [is_asked(self.text, word) for word in self.words]
        self.patterns: dict[object, Pattern | None] = {}
        self.known: dict[Any, Prepared | None] = {}
        self.lock = threading.Lock()

    def run(self, args: tuple[object, ...]) -> Any:
        """The results for some arguments."""
        device = current()
        try:
            found = self.fitting(args, device)
            if found is not None:
                return self.launched(found, args, device)
        except device.cl.Error as error:
            device.abandon(lost=not isinstance(error, device.cl.MemoryError))
            nbytes = sum(a.nbytes for a in args if isinstance(a, np.ndarray))
            fault_found = fault(error, self.function.__name__, nbytes, device.cl, device.device)
        except BaseException:  # no memory of the host's, an interrupt: what runs still writes into arrays that go now
            device.abandon(lost=False)
            raise
        else:
            first = next((value for value in args if hasattr(value, "srcgrad_launch")), None)  # a device array
            return self.function(*args) if first is None else first.srcgrad_launch(self, args)
        raise fault_found  # here, where nothing refers any more to the arrays of the launch

    def fitting(self, args: tuple[object, ...], device: Device, apart: bool = False) -> Prepared | None:
        """What to launch on a device for some arguments; None if the Python is to run."""
        key = key_of(args)
        if key is None:
            return None
        try:
            return self.known[device.number, device.is_gpu, apart, key]
        except KeyError:
            return self.prepare(args, key, device, apart)

    def prepare(self, args: tuple[object, ...], key: object, device: Device, apart: bool) -> Prepared | None:
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
        kinds = [(shapes.index(shape), *(n != 1 for n in shape)) for shape in shapes]
        whose = [type(value) in (float, int) for value in args] if real.itemsize == 4 else []
        kind = (*kinds, *whose)
        if kind not in self.patterns:
            self.patterns[kind] = None
            self.patterns[kind] = pattern_of(self.text, self.words, args, real)
        pattern = self.patterns[kind]
        if pattern is None:
            raise MismatchError
        words = [*self.words, *pattern.text.numbers]
        args = (*args, *(pattern.numbers(*args) if pattern.numbers else ()))
        work = Preparing(self.function.__name__, pattern.text, words, args, real, device, pattern)
        return prepared(work, apart)

    def launched(self, found: Prepared, args: tuple[object, ...], device: Device) -> Any:
        """Run the C; the Python where parts of an array lie too oddly for kernels to write into them."""
        if found.direct is not None:
            done = found.direct(found.given(args))
            if done is not None:
                return done
            apart = self.fitting(args, device, apart=True)
            if apart is None:
                return self.function(*args)
            found = apart
        try:
            into = found.writing.memory(args) if found.writing else None
        except MismatchError:
            return self.function(*args)
        slots: list[Any] = [*found.given(args), *found.constants]
        slots += [None] * (found.slots - len(slots))
        pending: list[Pending] = []
        given: dict[int, Any] = {}
        for run in found.runs:
            passed = [*run.before]
            for step in run.steps:
                made = [empty(output.shape, output.dtype) for output in step.outputs]
                buffers = [device.taken(one) for one in made]
                passed += [*step.numbers, *self.passed(step.inputs, slots, given, device), *buffers]
                for output, one, buffer in zip(step.outputs, made, buffers, strict=True):
                    if output.slot >= 0:
                        slots[output.slot] = one
                        if not output.end and not device.copies:
                            given[output.slot] = buffer, one
                pending.append((step, run.small, made, buffers))
            self.enqueue(run, [*passed, *run.after], device)
            if run.waits or device.copies:
                self.settle(pending, slots, device)
        if found.writing is not None and into is not None:
            self.write(found.writing, into, slots, given, device)
            self.settle(pending, slots, device)
        results = [result(slots[slot], kind, args, self.words) for slot, kind in found.results]
        return results[0] if len(results) == 1 else tuple(results)

    def enqueue(self, run: Run, passed: list[object], device: Device) -> None:
        """Put what runs at once into the queue: as one launch where that needs one group, or else stage by stage."""
        kernel, first = run.kernel, run.first
        with self.lock:
            if first is None:
                kernel.set_args(*passed)
                device.run(kernel, run.steps[0].groups, run.small)
                return
            kernel.set_args(*passed, first, first + len(run.steps))
            if run.small:
                device.run(kernel, 1, True)
                return
            for number, step in enumerate(run.steps, first):
                kernel.set_arg(len(passed), np.uint32(number))
                kernel.set_arg(len(passed) + 1, np.uint32(number + 1))
                device.run(kernel, step.groups, False)

    def write(
        self,
        writing: Writing,
        into: tuple[object, int, list[int]],
        slots: list[object],
        given: dict[int, object],
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

    def settle(self, pending: list[Pending], slots: list[object], device: Device) -> None:
        """Wait for what has been launched; then the sums are put together."""
        for step, small, made, buffers in pending:
            found = device.finish(small, made, buffers)
            for output, one in zip(step.outputs, found, strict=True):
                if output.slot >= 0:
                    slots[output.slot] = ended(output, one) if output.end else one
        pending.clear()
