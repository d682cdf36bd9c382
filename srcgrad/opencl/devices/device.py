"""OpenCL devices: found, chosen, and held with what it takes to build and run kernels on them; memory that these reach.

Programs for PoCL on a CPU are made without the runtime's library where they call none of it. Slabs are given back.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import itertools
import math
import os
import pathlib
import re
import sys
import threading
import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import Any  # pyopencl's objects

import numpy as np

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.files import replace
from srcgrad.opencl.kernels.lines import ONCE

_HEAD = object.__basicsize__  # bytes of every object of Python; of an array, what follows is where its elements are
_SHIFT = ctypes.sizeof(ctypes.c_size_t).bit_length() - 1
_WORDS = (ctypes.c_size_t * (sys.maxsize >> _SHIFT)).from_address(0)  # all memory, as words of the machine

LARGE = 1 << 18  # bytes from which on a slab pays
_KEPT = 1 << 30  # bytes of free slabs that are kept
_free: dict[int, list[object]] = {}
_PROBE = np.empty(1)
_lock = threading.Lock()
_held = 0


class Lease:
    """A slab for as long as an array lies on it: memory of C, at whose end the slab is given back."""

    slab: Any

    def __del__(self) -> None:
        _give_back(self.slab)


@functools.cache
def _leased(size: int) -> Any:
    """Leases of so many bytes."""

    class Leased(Lease, ctypes.c_char * size):  # type: ignore[misc]  # ctypes makes the class
        pass

    return Leased


def empty(shape: tuple[int, ...], dtype: Any) -> Any:
    """An array with elements yet to be written, C-contiguous."""
    size = math.prod(shape) * dtype.itemsize
    if size < LARGE:
        return np.empty(shape, dtype)
    slab = _take(1 << (size - 1).bit_length())
    lease = _leased(slab.nbytes).from_address(address(slab))
    lease.slab = slab
    return np.ndarray(shape, dtype, lease)


def _take(size: int) -> Any:
    global _held
    with _lock:
        slabs = _free.get(size)
        if slabs:
            _held -= size
            slab = slabs.pop()
            if not slabs:
                del _free[size]  # given back, it will be the last size in order
            return slab
    return np.empty(size, np.uint8)


def _give_back(slab: Any) -> None:
    """Keep a slab; where there are too many, those whose size has not been asked for the longest go.

    It is let go where slabs are being counted: by another thread, or by this one, when garbage is collected there.
    """
    global _held
    if slab.nbytes > _KEPT or not _lock.acquire(blocking=False):
        return
    try:
        while _held + slab.nbytes > _KEPT:
            size = next(iter(_free))
            slabs = _free[size]
            slabs.pop()
            _held -= size
            if not slabs:
                del _free[size]
        _held += slab.nbytes
        _free.setdefault(slab.nbytes, []).append(slab)
    finally:
        _lock.release()


def address(array: object) -> int:
    """Where the first element of an array is: in NumPy's C API the first field of its structure, quick to read."""
    return int(_WORDS[id(array) + _HEAD >> _SHIFT])


def addresses(values: Sequence[object], places: Sequence[int]) -> list[int]:
    """Where the arrays in some places are."""
    return [_WORDS[id(values[place]) + _HEAD >> _SHIFT] for place in places]


assert address(_PROBE) == _PROBE.__array_interface__["data"][0], "NumPy's arrays start as its C API says"


def span(array: Any) -> Any:
    """What the memory of an array in pieces is, from its first element to its last: a type of ctypes."""
    last = sum((n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)) + array.itemsize
    return ctypes.c_char * last


def spanned(array: object, kind: Any) -> object:
    """The memory of an array as one of the types that `span` gives."""
    memory = kind.from_address(address(array))
    memory._owner = array
    return memory


def open_to(array: object) -> object:
    """Memory whose address a kernel is given: pyopencl asks for some that can be written."""
    if isinstance(array, np.ndarray) and not array.flags.writeable:
        return spanned(array, ctypes.c_char * array.nbytes)
    return array


def bring(cl: ModuleType, queue: object, buffer: Any) -> None:
    """Let the memory that a buffer wraps have what kernels have written: mapped it has, and keeps it when unmapped."""
    view, _ = cl.enqueue_map_buffer(queue, buffer, cl.map_flags.READ, 0, (buffer.size,), np.uint8, is_blocking=True)
    view.base.release(queue)


GUARD = "_OPENCL_H_"
_PLACES = "get_group_id get_num_groups get_local_id get_global_id get_global_size"
_NUMBERS = "sqrt floor ceil trunc sin cos tan"
_PAIRS = "fmin fmax"


def declared(has_fp64: bool) -> str:
    """The declarations, as the header has them."""
    made = [f"size_t SG_CALLED {name}(uint);" for name in _PLACES.split()]
    for real in ("float", "double") if has_fp64 else ("float",):
        made += [f"{real} SG_CALLED {name}({real});" for name in _NUMBERS.split()]
        made += [f"{real} SG_CALLED {name}({real}, {real});" for name in _PAIRS.split()]
        made.append(f"int SG_CALLED isnan({real});")
    made.append("void __attribute__((overloadable, convergent)) barrier(cl_mem_fence_flags);")
    return "\n".join(["#define SG_CALLED __attribute__((overloadable, const))", *made, ""])


_RUNTIME = "PoCL 3.0"
_GROUP_PLACES = """extern __constant size_t _group_id_x, _num_groups_x;
#define get_group_id(axis) _group_id_x
#define get_num_groups(axis) _num_groups_x
#define isnan(x) ((x) != (x))
"""
_LIBRARY = re.compile(r"\b(far_\w+|fmod|barrier|get_local_id|get_global_\w+)\(")  # what of it we call beside that
_KERNEL = re.compile(r"__kernel void (\w+)\(")
_HARMLESS = {"POCL_DEVICES", "POCL_CACHE_DIR", "POCL_MEMORY_LIMIT", "POCL_MAX_PTHREAD_COUNT", "POCL_AFFINITY"}
_LONGEST = 100  # characters of a name that a program keeps
_SIZE = hashlib.sha256().digest_size
_FILE = b"/program.bc"  # of what PoCL gives as a program's binary: its name, four bytes of its length, and its bytes
_BITCODE = b"BC\xc0\xde"


def is_alone(device: Any, text: str) -> bool:
    """Whether a text needs nothing of the library, and the runtime is one of which this is known.

    Variables of the runtime's own may change what it makes of a text, which the names of kernels do not say.
    """
    if _RUNTIME not in device.platform.version or "-x86_64-" not in device.version or _LIBRARY.search(text):
        return False
    return all(name in _HARMLESS for name in os.environ if name.startswith("POCL_"))


def unlinked(cl: ModuleType, context: object, device: Any, text: str, options: list[str]) -> object:
    """The program of a text that `is_alone`; None if the runtime does not give it."""
    made_of = "\n".join([device.platform.version, device.version, *options, text])
    mark = hashlib.sha256(made_of.encode()).hexdigest()[:32]
    place = _folder() / f"{mark}.bc"
    try:
        bitcode = kept = _kept(place)
        if bitcode is None:
            names = "".join(f"#define {name} {marked(name, mark)}\n" for name in _KERNEL.findall(text))
            compiled = cl.Program(context, names + _GROUP_PLACES + text)
            compiled.compile(options=options, devices=[device])
            bitcode = _bitcode(b"".join(compiled.get_info(cl.program_info.BINARIES)))
        made = cl.Program(context, [device], [bitcode]).build(devices=[device]) if bitcode else None
    except (cl.RuntimeError, cl.LogicError):
        return None
    if bitcode is None or made is None or not made.num_kernels:
        return None
    if kept is None:
        replace(place, hashlib.sha256(bitcode).digest() + bitcode)
    return made


def _folder() -> pathlib.Path:
    """A folder beside what PoCL keeps, which goes with it."""
    own = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(os.environ.get("POCL_CACHE_DIR") or pathlib.Path(own) / "pocl" / "kcache") / "srcgrad"


def _kept(place: pathlib.Path) -> bytes | None:
    """What has been kept; None if nothing was, or if it is damaged."""
    try:
        kept = place.read_bytes()
    except OSError:
        return None
    return kept[_SIZE:] if kept[:_SIZE] == hashlib.sha256(kept[_SIZE:]).digest() else None


def marked(name: str, mark: str) -> str:
    """The name of a kernel in a program, and so of a file: what it is called, and what it is made of."""
    return f"{name[:_LONGEST]}_of_{mark}"


def kernel_name(name: str, program: Any) -> str:
    """What a program calls a kernel."""
    made = next(own for own in program.kernel_names.split(";") if own == name or own.startswith(marked(name, "")))
    return str(made)


def _bitcode(binary: bytes) -> bytes | None:
    """The bitcode in what PoCL gives as a program's binary."""
    _, found, rest = binary.partition(_FILE)
    size, code = int.from_bytes(rest[:4], "little"), rest[4:]
    return code[:size] if found and code.startswith(_BITCODE) and len(code) >= size else None


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

    def __init__(self, cl: ModuleType, device: Any, context: object, queue: Any, small: Any, memory: str) -> None:
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

    def kernel(self, program: object, name: str) -> Any:
        """A kernel object of a program, whose arguments are nobody else's."""
        return self.cl.Kernel(program, kernel_name(name, program))

    def program(self, text: str, small: bool = False) -> Any:
        """The program of a text, which is built once for each of the two queues."""
        with self._building:
            made = self.programs.get((text, small))
            if made is None:
                made = self.programs[text, small] = self._built(text, small)
        return made

    def _built(self, text: str, small: bool) -> object:
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

    def given(self, array: object) -> Any:
        """What a kernel is given to read an array; for another launch it is made anew, unless memory is shared."""
        return self._reached(self.cl.mem_flags.READ_ONLY, array)

    def taken(self, array: Any) -> Any:
        """What a kernel is given to write an array, and to read it again."""
        if self.copies:
            return self.cl.Buffer(self.context, self.cl.mem_flags.READ_WRITE, memoryview(array).nbytes)
        return self.shared(array)

    def shared(self, memory: object) -> Any:
        """What a kernel is given to change memory in places."""
        return self._reached(self.cl.mem_flags.READ_WRITE, memory)

    def _reached(self, access: int, array: object) -> object:
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

    def run(self, kernel: object, groups: int, small: bool) -> None:
        """Put a kernel, its arguments set, into the queue."""
        local = 256 if self.is_gpu else 1
        queue = self.small if small else self.queue
        self.cl.enqueue_nd_range_kernel(queue, kernel, (groups * local,), (local,))

    def finish(self, small: bool, arrays: list[object], buffers: list[object]) -> list[Any]:
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


opened_by_name: dict[tuple[int, str], Device] = {}
opened_by_place: dict[tuple[int, int], Device] = {}
_HELD: tuple[dict[Any, Device], ...] = (opened_by_name, opened_by_place)
_seen_by: int | None = None  # the process that started the runtimes: their threads are not in those forked from it


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


_ROOM = ("MEM_OBJECT_ALLOCATION_FAILURE", "OUT_OF_RESOURCES", "OUT_OF_HOST_MEMORY", "INVALID_BUFFER_SIZE")
_OTHER = 'set SRCGRAD_DEVICE to another device, or derive with target="numpy"'
_LINES = 12  # of a compiler's log, that a message shows


def fault(error: object, kernel: str, nbytes: int, cl: ModuleType, device: Any) -> DifferentiationError:
    """The error to raise for one of pyopencl's, in a kernel with arguments and results of so many bytes."""
    code = getattr(error, "code", None)
    name = cl.status_code.to_string(code) if isinstance(code, int) else "an unknown error"
    called = str(device.name).strip()
    if name in _ROOM:
        size = f"{nbytes / 2**20:.0f} MB; {called} has {device.global_mem_size / 2**20:.0f}"
        at_once = f"{device.max_mem_alloc_size / 2**20:.0f} in one piece"
        message = f"kernel {kernel} has arrays of {size}, {at_once} ({name})"
        return DifferentiationError("E5021", message, f"pass smaller arrays; {_OTHER}")
    if name == "BUILD_PROGRAM_FAILURE":
        lines = [line for line in str(error).splitlines() if line.strip()]
        first = next((k for k, line in enumerate(lines) if "error" in line.lower()), 0)
        log = "\n    ".join(lines[first : first + _LINES])
        return DifferentiationError("E5022", f"kernel {kernel} does not build on {called}:\n    {log}", _OTHER)
    return DifferentiationError("E5022", f"kernel {kernel} failed on {called} ({name})", _OTHER)


def no_double(kernel: str, device: Any) -> DifferentiationError:
    """The error to raise where a device cannot compute in float64."""
    message = f"kernel {kernel} is given float64, in which {str(device.name).strip()} cannot compute"
    return DifferentiationError("E5023", message, f"pass float32; {_OTHER}")
