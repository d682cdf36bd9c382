"""Writes into device arrays: on the device where an array fills a part of another one, in NumPy otherwise."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any  # indices and values of every kind

import numpy as np

from srcgrad.opencl.applied import applied
from srcgrad.opencl.store import OnDevice

if TYPE_CHECKING:
    from srcgrad.opencl.array import Array

_BASIC = (int, slice, type(None), type(Ellipsis), np.integer)


def put(array: Array, index: Any, value: Any) -> None:
    """`array[index] = value`; a number gets memory of its own for that, since others may show the old one."""
    kind = type(array)
    if array.is_number:
        fresh = kind(*array.store.adopt(np.array(array.read())))
        put(fresh, index, value)
        fresh.read().setflags(write=False)
        array.memory, array.store = fresh.memory, fresh.store
        return
    if type(value) is kind and array.device.is_gpu and array.memory.flags.writeable and is_basic(index):
        part = array[index]
        if not part.is_number and filled(part, value):
            return
    applied(kind, operator.setitem, (array, index, value), {}, writes=True)


def is_basic(index: Any) -> bool:
    """Whether an index gives a view, or one element."""
    parts = index if type(index) is tuple else (index,)
    return all(isinstance(part, _BASIC) and type(part) is not bool for part in parts)


def filled(target: Any, value: Array) -> bool:
    """Whether one array's elements could be copied into another one's memory without the host."""
    if type(target) is not type(value) or target.shape != value.shape or target.dtype != value.dtype:
        return False
    one, other = target.store, value.store
    if not target.size or not isinstance(one, OnDevice) or not isinstance(other, OnDevice) or one is other:
        return False
    if one.device is not other.device or not other.buffer_is_current:
        return False
    if not (target.flags.c_contiguous and value.flags.c_contiguous and target.flags.writeable):
        return False
    one.fill(target.memory, other, value.memory)
    return True
