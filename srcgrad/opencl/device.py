"""OpenCL devices: found, chosen, and held with what it takes to run kernels on them."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from types import ModuleType
from typing import Any  # pyopencl ships no types of its own

import numpy as np

from srcgrad.core.errors import DifferentiationError
from srcgrad.opencl.declared import GUARD, declared
from srcgrad.opencl.entry import ONCE
from srcgrad.opencl.mapping import bring, open_to
from srcgrad.opencl.probe import verdict
from srcgrad.opencl.unlinked import is_alone, kernel_name, unlinked

CHOICE = "SRCGRAD_DEVICE"
_ANEW = "typedef int built_anew;\n"  # of a text whose entry in the runtime's cache is damaged, or half written
_POCL = "Portable Computing Language"
_INSTALL = "run `pip install 'srcgrad[opencl]'`, which brings PoCL for the CPU; a GPU needs its maker's driver"


class Device:
    """A device with a context and an in-order queue, and how arrays of the host get there and back.

    `small` is the queue of the runtime's single-thread device, where there is one. `is_gpu` chooses the form of the
    kernels. `memory` says how they reach the arrays: "shared", by their address; "mapped", by buffers that wrap them,
    of which the runtime may keep copies; "copied", by buffers of the device's own.
    """

    def __init__(self, cl: ModuleType, device: Any, context: Any, queue: Any, small: Any, memory: str) -> None:
        self.cl, self.device, self.context, self.queue, self.small = cl, device, context, queue, small
        self.memory = memory
        self.number = next(_numbers)
        self.is_gpu = not device.type & cl.device_type.CPU
        self.is_pocl = not self.is_gpu and device.platform.name == _POCL
        self.has_fp64 = bool(device.double_fp_config)
        rounding = int(cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT)
        self.rounds = bool(int(device.single_fp_config) & rounding)  # quotients and roots, as NumPy's are, if asked
        self.units = int(device.max_compute_units)
        self.programs: dict[tuple[str, bool], Any] = {}
        self._building = threading.Lock()  # not every runtime builds for two threads at once
        self._pool: Any = None

    def __repr__(self) -> str:
        return f"<OpenCL device {self.number}: {self.device.name.strip()}>"

    @property
    def copies(self) -> bool:
        """Whether arrays are copied to the device and back."""
        return self.memory == "copied"

    def allocated(self, size: int) -> Any:
        """Memory of the device itself, from a pool to which it goes back."""
        if self._pool is None:
            from pyopencl.tools import ImmediateAllocator, MemoryPool

            self._pool = MemoryPool(ImmediateAllocator(self.queue))
        return self._pool.allocate(max(1, size))

    def build(self, text: str, name: str, small: bool = False) -> Any:
        """The kernel of a text."""
        return self.kernel(self.program(text, small), name)

    def kernel(self, program: Any, name: str) -> Any:
        """A kernel object of a program, whose arguments are nobody else's."""
        return self.cl.Kernel(program, kernel_name(name, program))

    def program(self, text: str, small: bool = False) -> Any:
        """The program of a text, which is built once for each of the two queues."""
        with self._building:
            made = self.programs.get((text, small))
            if made is None:
                made = self.programs[text, small] = self._built(text, small)
        return made

    def _built(self, text: str, small: bool) -> Any:
        options = ["-w", *(["-cl-single-precision-constant"] if "#define REAL float" in text else [])]
        options += ["-cl-fp32-correctly-rounded-divide-sqrt"] if self.is_gpu and self.rounds else []
        if not self.has_fp64:
            text = text.replace("#define SUM_TYPE double", "#define SUM_TYPE float")
        device = (self.small if small else self.queue).device
        if self.is_pocl:
            options.append(f"-D{GUARD}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # remarks of the runtime's compiler
            for more in (ONCE, ONCE + _ANEW) if self.is_pocl and is_alone(device, text) else ():
                made = unlinked(self.cl, self.context, device, more + text, options)
                if made is not None:
                    return made
            text = ONCE + declared(self.has_fp64) + text if self.is_pocl else text
            try:
                made = self.cl.Program(self.context, text).build(options=options, devices=[device])
                if made.num_kernels:
                    return made
            except self.cl.RuntimeError:
                pass  # as below, or it is said there
            return self.cl.Program(self.context, text + _ANEW).build(options=options, devices=[device])

    def given(self, array: Any) -> Any:
        """What a kernel is given to read an array; for another launch it is made anew, unless memory is shared."""
        return self._reached(self.cl.mem_flags.READ_ONLY, array)

    def taken(self, array: Any) -> Any:
        """What a kernel is given to write an array, and to read it again."""
        if self.copies:
            return self.cl.Buffer(self.context, self.cl.mem_flags.READ_WRITE, memoryview(array).nbytes)
        return self.shared(array)

    def shared(self, memory: Any) -> Any:
        """What a kernel is given to change memory in places."""
        return self._reached(self.cl.mem_flags.READ_WRITE, memory)

    def _reached(self, access: int, array: Any) -> Any:
        if self.memory == "shared":
            return self.cl.SVM(open_to(array))
        held = self.cl.mem_flags.COPY_HOST_PTR if self.copies else self.cl.mem_flags.USE_HOST_PTR
        return self.cl.Buffer(self.context, access | held, 0, array)

    def sums(self, real: str) -> Any:
        """The dtype in which work-groups add up."""
        return np.float32 if real == "float" and (self.is_gpu or not self.has_fp64) else np.float64

    def groups(self, units: int, size: int) -> int:
        """How many work-groups share the work: so many units, each of which one group does, or so many elements."""
        if self.is_gpu:
            return max(1, min((size + 1023) // 1024, 16 * self.units))
        return max(1, min(units, 4 * self.units))

    def run(self, kernel: Any, groups: int, small: bool) -> None:
        """Put a kernel, its arguments set, into the queue."""
        local = 256 if self.is_gpu else 1
        queue = self.small if small else self.queue
        self.cl.enqueue_nd_range_kernel(queue, kernel, (groups * local,), (local,))

    def finish(self, small: bool, arrays: list[Any], buffers: list[Any]) -> list[Any]:
        """The results, in the host's arrays: wait until they are there."""
        queue = self.small if small else self.queue
        if self.memory != "shared":
            for array, buffer in zip(arrays, buffers, strict=True):
                bring(self.cl, queue, buffer) if not self.copies else self.cl.enqueue_copy(self.queue, array, buffer)
        queue.finish()
        return arrays

    def abandon(self, lost: bool) -> None:
        """After an error: wait for what still runs on the host's arrays; if the device is lost, it is opened anew."""
        for queue in (self.queue, self.small):
            with contextlib.suppress(self.cl.Error):
                if queue is not None:
                    queue.finish()
        for held in _HELD if lost else ():
            for key in [key for key, one in held.items() if one is self]:
                del held[key]


_numbers = itertools.count()


def load() -> ModuleType:
    """pyopencl; E5018 if it is not there."""
    os.environ.setdefault("POCL_DEVICES", "pthread basic")  # one for large work, one without threads for small work
    try:
        import pyopencl
    except ImportError:
        raise DifferentiationError("E5018", "pyopencl is not installed", _INSTALL) from None
    return pyopencl


def found() -> list[Any]:
    """All devices of all platforms: GPUs, CPUs, simulators; single-thread twins of other devices are left out."""
    global _seen_by
    cl = load()
    _seen_by = _seen_by or os.getpid()
    try:
        devices = [d for platform in cl.get_platforms() for d in platform.get_devices()]
    except cl.Error:
        devices = []
    kept = [d for d in devices if not _is_single(d)] or devices
    return sorted(kept, key=lambda d: (is_simulator(d), bool(d.type & cl.device_type.CPU)))


def is_simulator(device: Any) -> bool:
    """Whether a device only checks what kernels do, as Oclgrind does."""
    return "simulator" in str(device.name).lower()


def _is_single(device: Any) -> bool:
    return str(device.name).startswith(("basic", "cpu-minimal"))


def choose(wanted: str | None = None) -> tuple[Any, str]:
    """A device and why: what `wanted` or SRCGRAD_DEVICE names, else the first.

    A name is a number, a part of the device's name, `cpu` or `gpu`.
    """
    devices = found()
    asked = wanted if wanted is not None else os.environ.get(CHOICE, "")
    why = "named by the caller" if wanted is not None else f"named by {CHOICE}"
    if not devices:
        raise DifferentiationError("E5018", "there is no OpenCL device", _INSTALL)
    if asked:
        numbered = [d for k, d in enumerate(devices) if asked == str(k)]
        named = numbered or [d for d in devices if asked.lower() in f"{d.platform.name} {d.name}".lower()]
        if not named and asked.lower() in ("cpu", "gpu"):
            named = [d for d in devices if bool(d.type & load().device_type.CPU) == (asked.lower() == "cpu")]
        if not named:
            remedy = "give the number or a part of the name of one that `srcgrad devices` lists"
            raise DifferentiationError("E5018", f"no OpenCL device is called {asked!r}", remedy)
        return named[0], why
    cl = load()
    return devices[0], "the first GPU" if not devices[0].type & cl.device_type.CPU else "the CPU, since there is no GPU"


_lock = threading.Lock()
_current: dict[tuple[int, str], Device] = {}
_opened: dict[tuple[int, int], Device] = {}
_HELD: tuple[dict[Any, Device], ...] = (_current, _opened)
_using: ContextVar[Device | None] = ContextVar("srcgrad_device", default=None)
_KEY = os.environ.encodekey(CHOICE)
_seen_by: int | None = None  # the process that started the runtimes: their threads are not in those forked from it


def current() -> Device:
    """The device in use: that of the arrays at hand, or else the chosen one."""
    return _using.get() or called(_asked())


def _asked() -> str:
    """What SRCGRAD_DEVICE says now; each launch asks, so it is read where `os.environ` keeps it."""
    held: Any = os.environ
    found = held._data.get(_KEY)
    return "" if found is None else str(held.decodevalue(found))


def called(wanted: str) -> Device:
    """The device of a name, opened once per process (a forked process opens its own); E5018 if it computes wrongly."""
    key = (os.getpid(), wanted)
    held = _current.get(key)
    if held is None:
        with _lock:
            held = _current.get(key)
            if held is None:
                held = _current[key] = _trusted(wanted)
    return held


@contextlib.contextmanager
def using(device: Device) -> Iterator[None]:
    """Run kernels on a device, in this thread, until the block ends."""
    token = _using.set(device)
    try:
        yield
    finally:
        _using.reset(token)


def _trusted(wanted: str) -> Device:
    device, _ = choose(wanted or None)
    memory, fault = verdict(device) if not is_simulator(device) else ("copied", "")  # it takes minutes, and has a log
    if fault:
        raise DifferentiationError(
            "E5018",
            f"the OpenCL device {device.name.strip()} fails its test: {fault}",
            f"set {CHOICE} to another one",
        )
    key = (os.getpid(), device.int_ptr)
    try:
        made = _opened[key] = _opened.get(key) or opened(device, memory)  # two names of one device are one device
    except load().Error as error:
        message = f"the OpenCL device {device.name.strip()} cannot be opened: {error}"
        raise DifferentiationError("E5018", message, f"set {CHOICE} to another one") from None
    return made


def opened(device: Any, memory: str = "copied") -> Device:
    """A device with a context and queues of its own, whose kernels reach arrays in a way that the probe found right.

    In a process that was forked after the runtimes were started, that of the device without threads; E5018 if there
    is none, since others would wait for threads that are not there.
    """
    cl = load()
    twins = [d for d in device.platform.get_devices() if _is_single(d)] if device.type & cl.device_type.CPU else []
    if _seen_by not in (None, os.getpid()) and not is_simulator(device):
        if not twins:
            message = f"{device.name.strip()} was used before this process was forked, and cannot be used after that"
            raise DifferentiationError("E5018", message, 'start processes by "spawn", or before the first kernel runs')
        device = twins[0]
    context = cl.Context([device, *[twin for twin in twins[:1] if twin != device]])
    small = cl.CommandQueue(context, twins[0]) if twins else None
    return Device(cl, device, context, cl.CommandQueue(context, device), small, memory)
