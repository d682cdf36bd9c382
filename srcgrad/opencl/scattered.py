"""Rows that were taken by an array of integers, added back: `np.add.at` for rows, on all cores.

Each group owns a range of rows and goes through the whole index: no two groups write one row, and each row is added to
in the order of the index. So the result is that of `np.add.at` to the last bit, on any number of cores.
"""

from __future__ import annotations

import threading
from typing import Any  # containers and indices of every kind

import numpy as np

from srcgrad import runtime
from srcgrad.opencl.devices.device import Device, fault
from srcgrad.opencl.devices.trusted import current
from srcgrad.opencl.kernels.lines import REALS, entry

_FEWEST = 1 << 14  # elements that make a launch worth it
_SHORTEST = 4  # elements of a row: below, NumPy is as fast
_SMALL = 1_000_000  # elements below which the device without threads is faster
_lock = threading.Lock()
_kernels: dict[tuple[int, str, bool], Any] = {}

_DOUBLE = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
_GIVEN = [
    *("const ulong rows", "const ulong row", "const ulong count", "__global const long* restrict index"),
    *("__global const REAL* restrict values", "__global REAL* restrict out"),
]
_BODY = """{
    const size_t share = (rows + groups - 1) / groups;
    const size_t first = g * share < rows ? g * share : rows;
    const size_t last = first + share < rows ? first + share : rows;
    for (size_t k = 0; k < count; k++) {
        const size_t at = index[k] < 0 ? index[k] + rows : index[k];
        if (at >= first && at < last) {
            __global const REAL* restrict from = values + k * row;
            __global REAL* restrict to = out + at * row;
            for (size_t i = 0; i < row; i++) to[i] += from[i];
        }
    }
}
"""


def add_at(x_bar: Any, index: Any, g: Any) -> object:
    """Add `g` to `x_bar[index]` in place, repeated indices accumulating, and return `x_bar`: rows by a kernel.

    >>> add_at(np.zeros((3, 2)), np.array([0, 0, 2]), np.ones((3, 2)))
    array([[2., 2.],
           [0., 0.],
           [1., 1.]])
    """
    if not _is_of_rows(x_bar, index):
        return runtime.add_at(x_bar, index, g)
    device = current()
    if device.is_gpu or (x_bar.itemsize == 8 and not device.has_fp64):
        return runtime.add_at(x_bar, index, g)
    places = np.ascontiguousarray(index, np.int64)
    values = np.ascontiguousarray(np.broadcast_to(g, (*index.shape, *x_bar.shape[1:])), x_bar.dtype)
    try:
        _launch(x_bar, places, values, device)
        return x_bar
    except device.cl.Error as error:
        device.abandon(lost=not isinstance(error, device.cl.MemoryError))
        found = fault(error, "add_rows", x_bar.nbytes + values.nbytes, device.cl, device.device)
    except BaseException:  # an interrupt: what runs still reads and writes arrays that go now
        device.abandon(lost=False)
        raise
    raise found


def _is_of_rows(x_bar: object, index: object) -> bool:
    """Whether an index names rows of an array whose memory a kernel writes, enough of them."""
    if type(x_bar) is not np.ndarray or type(index) is not np.ndarray or index.dtype.kind not in "iu":
        return False
    if x_bar.ndim < 2 or x_bar.dtype not in REALS or not (x_bar.flags.c_contiguous and x_bar.flags.aligned):
        return False
    row, rows = x_bar[:1].size, len(x_bar)
    if not x_bar.size or row < _SHORTEST or index.size * row < _FEWEST:
        return False
    return bool(index.min() >= -rows and index.max() < rows)  # NumPy says what is wrong


def _launch(x_bar: Any, places: Any, values: Any, device: Device) -> None:
    small = device.small is not None and values.size < _SMALL
    real = REALS[x_bar.dtype]
    rows, row = len(x_bar), values.size // places.size
    buffers = [device.given(places), device.given(values), device.shared(x_bar)]
    with _lock:
        key = device.number, real, small
        kernel = _kernels.get(key)
        if kernel is None:
            text = f"{_DOUBLE if real == 'double' else ''}#define REAL {real}\n{entry('add_rows', _GIVEN, _BODY)}"
            kernel = _kernels[key] = device.build(text, "add_rows", small)
            kernel.set_scalar_arg_dtypes([np.uint64] * 3 + [None] * 3)
        kernel.set_args(rows, row, places.size, *buffers)
        groups = 1 if small else min(rows, device.units if row < 32 else 4 * device.units)
        device.run(kernel, groups, small)
    device.finish(small, [x_bar], [buffers[2]])
