"""The self-test of a device, and what `srcgrad devices` tells of each.

`python -m srcgrad.opencl.devices.self_test NUMBER WAY` runs kernels in a process of its own: it prints `right`, or what
was wrong. WAY is how kernels reach arrays.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any  # pyopencl ships no types of its own

import numpy as np

from srcgrad.opencl.devices.device import Device, choose, found, is_simulator, opened
from srcgrad.opencl.devices.trusted import (
    _COHERENT,
    _FUNCTIONS,
    _UNSEEN,
)

COPIED = 1 << 26  # bytes


@dataclass(frozen=True)
class Row:
    """One device: bytes of memory, GB/s of a copy, microseconds of a launch; the last two None for a simulator."""

    number: int
    name: str
    platform: str
    is_used: bool
    fp64: bool
    units: int
    memory: int
    bandwidth: float | None
    launch: float | None


def rows() -> tuple[list[Row], str]:
    """What is known and measured of each device, and why the used one is used; E5018 if there is none."""
    chosen, why = choose()
    made = []
    for number, device in enumerate(found()):
        bandwidth, launch = (None, None) if is_simulator(device) else measure_device(opened(device))
        name, platform = device.name.strip(), device.platform.name.strip()
        fp64, units = bool(device.double_fp_config), device.max_compute_units
        is_used = device == chosen
        made.append(Row(number, name, platform, is_used, fp64, units, device.global_mem_size, bandwidth, launch))
    return made, why


def report() -> str:
    """A table of devices; E5018 if there is none."""
    every, why = rows()
    lines = [f"  {'':2}{'device':44}{'fp64':>6}{'units':>7}{'memory':>9}{'copy':>10}{'launch':>9}"]
    for row in every:
        mark, fp64 = "*" if row.is_used else " ", "yes" if row.fp64 else "no"
        memory = f"{row.memory / 2**30:.1f} GB"
        name = f"{row.name} ({row.platform.split()[0]})"
        lines.append(
            f"{mark} {row.number:<2}{name[:43]:44}{fp64:>6}{row.units:>7}{memory:>9}"
            f"{row.bandwidth or 0.0:>5.1f} GB/s{row.launch or 0.0:>6.1f} us"
        )
    return "\n".join([*lines, f"* is used: {why}; SRCGRAD_DEVICE, a number or a part of a name, chooses another."])


def measure_device(device: Device) -> tuple[float, float]:
    """The bandwidth of a copy in GB/s, read and write counted, and the cost of a launch in microseconds."""
    copy = copier(device)
    copy(COPIED)
    large = median(copy(COPIED) for _ in range(5))
    return 2e-9 * COPIED / large, 1e6 * median(copy(16) for _ in range(50))


def copier(device: Device) -> Callable[[int], float]:
    """What copies so many bytes, at most `COPIED`, from one buffer to another, and says in how many seconds."""
    text = "__kernel void copy(__global const float4* x, __global float4* y, const ulong n) {\n"
    text += "    size_t g = get_global_id(0), all = get_global_size(0), share = (n + all - 1) / all;\n"
    if device.is_gpu:  # items next to each other read what lies next to each other
        text += "    for (size_t i = g; i < n; i += all) y[i] = x[i];\n}\n"
    else:
        text += "    size_t last = (g + 1) * share < n ? (g + 1) * share : n;\n"
        text += "    for (size_t i = g * share; i < last; i++) y[i] = x[i];\n}\n"
    kernel = device.build(text, "copy")
    kernel.set_scalar_arg_dtypes([None, None, np.uint64])
    one, two = np.ones(COPIED // 4, np.float32), np.empty(COPIED // 4, np.float32)
    buffers: list[Any] = [device.given(one), device.taken(two)]
    items, local = ((16 * 256 * device.units,), (256,)) if device.is_gpu else ((4 * device.units,), None)

    def copy(size: int) -> float:
        start = time.perf_counter()
        kernel.set_args(*buffers, size // 16)
        device.cl.enqueue_nd_range_kernel(device.queue, kernel, items, local)
        device.queue.finish()
        return time.perf_counter() - start

    return copy


_AT_ONCE = 10  # formulas in one kernel: each takes a while to build


def probe(number: int, way: str) -> str:
    """Run our functions on a device and compare them with NumPy's, if kernels see what the host writes."""
    from srcgrad.opencl.devices.device import found, opened

    device = opened(found()[number], way)
    stale = _stale(device)
    if stale:
        return stale
    print(_COHERENT, flush=True)
    drawn = np.random.default_rng(0)
    for real in ("float", "double") if device.has_fp64 else ("float",):
        dtype = np.dtype(np.float32 if real == "float" else np.float64)
        x = (drawn.standard_normal(4099) * 3.0).astype(dtype)
        for first in range(0, len(_FUNCTIONS), _AT_ONCE):
            some = list(_FUNCTIONS.items())[first : first + _AT_ONCE]
            for made, (text, function) in zip(_computed(device, [t for t, _ in some], x), some, strict=True):
                off = np.max(np.abs(made - function(x)) / np.maximum(np.abs(function(x)), 1.0))
                if not off <= 16 * np.finfo(dtype).eps:
                    return f"{text} in {real} is off by {off:.1e}"
    return "right"


_FOLLOW = """\
__kernel void follow(__global const float* x, __global float* y, const ulong n) {
    for (ulong i = 0; i < n; i++) y[i] = x[i] + 1.0f;
}
"""


def _stale(device: Any) -> str:
    """What a kernel or the host did not see of what the other one wrote: arrays short and long, however they lie."""
    for small in (False, *([True] if device.small is not None else [])):
        kernel = device.build(_FOLLOW, "follow", small)
        kernel.set_scalar_arg_dtypes([None, None, np.uint64])
        for length in (3, 1000, 9001, 70_001):
            for start in (0, 1, 4, 16):  # floats behind a multiple of 4096 bytes
                x, y = _behind_page(length, start), _behind_page(length, start)
                one, two = device.given(x), device.taken(y)
                for trip in range(3):
                    x[:], y[:] = trip, -1.0
                    if device.memory != "shared":
                        one, two = device.given(x), device.taken(y)
                    kernel.set_args(one, two, length)
                    device.run(kernel, 1, small)
                    device.finish(small, [y], [two])
                    if not np.all(y == trip + 1.0):
                        return f"{_UNSEEN}{length} numbers, {device.memory}, are not those that were written last"
    return ""


def _behind_page(length: int, start: int) -> Any:
    """An array so many numbers behind the beginning of a page."""
    room = np.zeros(length + start + 2048, np.float32)
    first = -room.ctypes.data % 4096 // 4 + start
    return room[first : first + length]


def _computed(device: Any, texts: list[str], x: object) -> Any:
    from srcgrad.opencl.kernels.lines import HEAD
    from srcgrad.opencl.launch import Kernel

    def probe(x: object) -> Any:
        raise NotImplementedError

    lines = [f"REAL y{k} = {text};" for k, text in enumerate(texts)]
    lines += [f"STORE(y{k});" for k in range(len(texts))]
    probe.__doc__ = "\n".join([HEAD, "", *lines])
    kernel = Kernel(probe)
    made = kernel.fitting((x,), device)
    if made is None:
        raise NotImplementedError
    found = kernel.launched(made, (x,), device)
    return found if len(texts) > 1 else (found,)


if __name__ == "__main__":
    print(probe(int(sys.argv[1]), sys.argv[2]))
