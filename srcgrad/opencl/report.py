"""What `srcgrad devices` prints: every device, what was measured on it, and which one is chosen."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any  # pyopencl ships no types of its own

import numpy as np

from srcgrad.opencl.device import Device, choose, found, is_simulator, opened

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
        bandwidth, launch = (None, None) if is_simulator(device) else measured(opened(device))
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


def measured(device: Device) -> tuple[float, float]:
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
