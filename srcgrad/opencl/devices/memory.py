"""Memory of the host that kernels reach: slabs that are given back, and maps of it."""

from __future__ import annotations

import ctypes
import functools
import math
import sys
import threading
from collections.abc import Sequence
from types import ModuleType
from typing import Any  # dtypes and arrays

import numpy as np

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
