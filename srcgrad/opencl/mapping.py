"""The host's memory as kernels see it: by its address, or wrapped by a buffer of which the runtime may keep a copy."""

from __future__ import annotations

import ctypes
from types import ModuleType
from typing import Any  # pyopencl ships no types of its own

import numpy as np

from srcgrad.opencl.memory import spanned


def open_to(array: Any) -> Any:
    """Memory whose address a kernel is given: pyopencl asks for some that can be written."""
    if isinstance(array, np.ndarray) and not array.flags.writeable:
        return spanned(array, ctypes.c_char * array.nbytes)
    return array


def bring(cl: ModuleType, queue: Any, buffer: Any) -> None:
    """Let the memory that a buffer wraps have what kernels have written: mapped it has, and keeps it when unmapped."""
    view, _ = cl.enqueue_map_buffer(queue, buffer, cl.map_flags.READ, 0, (buffer.size,), np.uint8, is_blocking=True)
    view.base.release(queue)
