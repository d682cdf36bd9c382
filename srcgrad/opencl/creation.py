"""Device arrays made from other things, and from nothing."""

from __future__ import annotations

from typing import Any  # anything that NumPy makes an array of

import numpy as np

from srcgrad.opencl.array import Array
from srcgrad.opencl.device import Device, called, current
from srcgrad.opencl.memory import empty as unwritten
from srcgrad.opencl.store import store_on

_KINDS = "biufc"


def device_of(wanted: Any) -> Device:
    """The device that a name, a number or a device means; the chosen one for None."""
    if isinstance(wanted, Device):
        return wanted
    return current() if wanted is None else called(str(wanted))


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Array:
    """An array on a device, of numbers, of a NumPy array or of anything that NumPy makes an array of.

    `device` is a name, a number (those of SRCGRAD_DEVICE), or the `device` of another array; without it, an array
    stays where it is, and others go to the chosen device. On a CPU device a NumPy array is used where it lies, unless
    `copy=True`; elsewhere `copy=False` is a ValueError. TypeError for what is no array of numbers.

    >>> import numpy as np
    >>> x = np.zeros(2)
    >>> y = asarray(x)
    >>> y[0] = 1.0
    >>> y
    Array([1., 0.])
    """
    place = obj.device if device is None and isinstance(obj, Array) else device_of(device)
    if isinstance(obj, Array):
        wanted = obj.dtype if dtype is None else np.dtype(dtype)
        if obj.device is place and wanted == obj.dtype and not copy:
            return obj
        if copy is False:
            raise ValueError("this needs a copy: leave copy=False out")
        return placed(obj.read().astype(wanted), place)
    if copy is False and place.is_gpu:
        raise ValueError("elements get onto this device by a copy: leave copy=False out")
    made = np.array(_plain(obj), dtype, copy=True if place.is_gpu else copy)
    return placed(made, place)


def placed(array: Any, device: Device) -> Array:
    """NumPy memory as an array on a device; TypeError if its elements are no numbers."""
    if array.dtype.kind not in _KINDS:
        raise TypeError(f"a device array holds numbers, not elements of dtype {array.dtype}")
    return Array(*store_on(device, array))


def _plain(value: Any) -> Any:
    if isinstance(value, Array):
        return value.read()[()]
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """Zeros, as `np.zeros` gives them."""
    return placed(np.zeros(shape, dtype or float), device_of(device))


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """Ones, as `np.ones` gives them."""
    return placed(np.ones(shape, dtype or float), device_of(device))


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """Elements yet to be written, as `np.empty` gives them; large ones in memory that was used before."""
    extents = tuple(map(int, shape)) if isinstance(shape, tuple | list) else (int(shape),)
    return placed(unwritten(extents, np.dtype(dtype or float)), device_of(device))


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """One number everywhere, as `np.full` gives it."""
    return placed(np.full(shape, _plain(fill_value), dtype), device_of(device))


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Array:
    """Numbers a step apart, as `np.arange` gives them."""
    first, last = (0, start) if stop is None else (start, stop)
    return placed(np.arange(_plain(first), _plain(last), _plain(step), dtype=dtype), device_of(device))


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True
) -> Array:
    """So many numbers from one to another, as `np.linspace` gives them."""
    made = np.linspace(_plain(start), _plain(stop), num, dtype=dtype, endpoint=endpoint)
    return placed(made, device_of(device))


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> Array:
    """Ones along a diagonal, as `np.eye` gives them."""
    return placed(np.eye(n_rows, n_cols, k=k, dtype=dtype or float), device_of(device))


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Zeros in the shape of an array, on its device unless another one is named."""
    return _like(np.zeros, x, dtype, device)


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Ones in the shape of an array, on its device unless another one is named."""
    return _like(np.ones, x, dtype, device)


def empty_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Elements yet to be written in the shape of an array, on its device unless another one is named."""
    return _like(np.empty, x, dtype, device)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """One number in the shape of an array, on its device unless another one is named."""
    number = _plain(fill_value)
    return _like(lambda shape, kind: np.full(shape, number, kind), x, dtype, device)


def _like(make: Any, x: Any, dtype: Any, device: Any) -> Array:
    place = x.device if device is None and isinstance(x, Array) else device_of(device)
    return placed(make(x.shape, x.dtype if dtype is None else dtype), place)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """An array of another library, through the host's memory; without a copy on a CPU device."""
    if isinstance(x, Array):  # of a GPU there may be nothing in the host's memory
        return asarray(x, device=device, copy=copy)
    return asarray(np.from_dlpack(x, copy=copy), device=device, copy=copy)
