"""Memory of results: large arrays come from slabs that are used again, so that their pages are touched once.

A result is an array over a lease; when the array and all views of it are gone, the lease gives its slab back.
"""

from __future__ import annotations

import ctypes
import math
import threading
from typing import Any  # dtypes and arrays

import numpy as np

LARGE = 1 << 18  # bytes from which on a slab pays
_KEPT = 1 << 30  # bytes of free slabs that are kept
_free: dict[int, list[Any]] = {}
_lock = threading.Lock()
_held = 0


class Lease:
    """A slab for as long as an array lies on it."""

    __slots__ = ("__array_interface__", "slab")

    def __init__(self, slab: Any, shape: tuple[int, ...], dtype: Any) -> None:
        self.slab = slab
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": dtype.str,
            "data": (slab.__array_interface__["data"][0], False),
        }

    def __del__(self) -> None:
        _give_back(self.slab)


def empty(shape: tuple[int, ...], dtype: Any) -> Any:
    """An array with elements yet to be written, C-contiguous."""
    size = math.prod(shape) * dtype.itemsize
    if size < LARGE:
        return np.empty(shape, dtype)
    return np.asarray(Lease(_take(1 << (size - 1).bit_length()), shape, dtype))


def _take(size: int) -> Any:
    global _held
    with _lock:
        slabs = _free.get(size)
        if slabs:
            _held -= size
            return slabs.pop()
    return np.empty(size, np.uint8)


def _give_back(slab: Any) -> None:
    global _held
    with _lock:
        if _held + slab.nbytes <= _KEPT:
            _held += slab.nbytes
            _free.setdefault(slab.nbytes, []).append(slab)


def spanned(array: Any) -> Any:
    """What a buffer wraps: the array, or for one in pieces the memory from its first element to its last."""
    if array.flags.c_contiguous:
        return array
    last = sum((n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)) + array.itemsize
    memory = (ctypes.c_char * last).from_address(array.__array_interface__["data"][0])
    memory._owner = array
    return memory
