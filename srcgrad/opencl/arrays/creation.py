"""Arrays of the array API that are made of nothing, and its functions that NumPy's namespace lacks."""

from __future__ import annotations

import types
from typing import Any  # anything that NumPy makes an array of

import numpy as np
from numpy.typing import DTypeLike

from srcgrad.opencl.arrays.array import Array, apply_to_memory, store_on
from srcgrad.opencl.devices.device import Device
from srcgrad.opencl.devices.device import empty as unwritten
from srcgrad.opencl.devices.trusted import called, current

_KINDS = "biufc"


def device_of(wanted: object) -> Device:
    """The device that a name, a number or a device means; the chosen one for None."""
    if isinstance(wanted, Device):
        return wanted
    return current() if wanted is None else called(str(wanted))


def asarray(
    obj: object, /, *, dtype: DTypeLike | None = None, device: object = None, copy: bool | None = None
) -> Array:
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
        return place_on_device(obj.read().astype(wanted), place)
    if copy is False and place.is_gpu:
        raise ValueError("elements get onto this device by a copy: leave copy=False out")
    made = np.array(_plain_value(obj), dtype, copy=True if place.is_gpu else copy)
    return place_on_device(made, place)


def place_on_device(array: Any, device: Device) -> Array:
    """NumPy memory as an array on a device; TypeError if its elements are no numbers."""
    if array.dtype.kind not in _KINDS:
        raise TypeError(f"a device array holds numbers, not elements of dtype {array.dtype}")
    return Array(*store_on(device, array))


def _plain_value(value: object) -> Any:
    if isinstance(value, Array):
        return value.read()[()]
    if isinstance(value, list | tuple):
        return [_plain_value(part) for part in value]
    return value


def zeros(shape: object, *, dtype: object = None, device: object = None) -> Array:
    """Zeros, as `np.zeros` gives them."""
    return place_on_device(np.zeros(shape, dtype or float), device_of(device))


def ones(shape: object, *, dtype: object = None, device: object = None) -> Array:
    """Ones, as `np.ones` gives them."""
    return place_on_device(np.ones(shape, dtype or float), device_of(device))


def empty(shape: Any, *, dtype: DTypeLike | None = None, device: object = None) -> Array:
    """Elements yet to be written, as `np.empty` gives them; large ones in memory that was used before."""
    extents = tuple(map(int, shape)) if isinstance(shape, tuple | list) else (int(shape),)
    return place_on_device(unwritten(extents, np.dtype(dtype or float)), device_of(device))


def full(shape: object, fill_value: object, *, dtype: DTypeLike | None = None, device: object = None) -> Array:
    """One number everywhere, as `np.full` gives it."""
    return place_on_device(np.full(shape, _plain_value(fill_value), dtype), device_of(device))


def arange(
    start: object, /, stop: object = None, step: object = 1, *, dtype: DTypeLike | None = None, device: object = None
) -> Array:
    """Numbers a step apart, as `np.arange` gives them."""
    first, last = (0, start) if stop is None else (start, stop)
    return place_on_device(
        np.arange(_plain_value(first), _plain_value(last), _plain_value(step), dtype=dtype), device_of(device)
    )


def linspace(
    start: object,
    stop: object,
    /,
    num: int,
    *,
    dtype: DTypeLike | None = None,
    device: object = None,
    endpoint: bool = True,
) -> Array:
    """So many numbers from one to another, as `np.linspace` gives them."""
    made = np.linspace(_plain_value(start), _plain_value(stop), num, dtype=dtype, endpoint=endpoint)
    return place_on_device(made, device_of(device))


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: DTypeLike | None = None, device: object = None
) -> Array:
    """Ones along a diagonal, as `np.eye` gives them."""
    return place_on_device(np.eye(n_rows, n_cols, k=k, dtype=dtype or float), device_of(device))


def zeros_like(x: object, /, *, dtype: object = None, device: object = None) -> Array:
    """Zeros in the shape of an array, on its device unless another one is named."""
    return _make_like(np.zeros, x, dtype, device)


def ones_like(x: object, /, *, dtype: object = None, device: object = None) -> Array:
    """Ones in the shape of an array, on its device unless another one is named."""
    return _make_like(np.ones, x, dtype, device)


def empty_like(x: object, /, *, dtype: object = None, device: object = None) -> Array:
    """Elements yet to be written in the shape of an array, on its device unless another one is named."""
    return _make_like(np.empty, x, dtype, device)


def full_like(x: object, /, fill_value: object, *, dtype: object = None, device: object = None) -> Array:
    """One number in the shape of an array, on its device unless another one is named."""
    number = _plain_value(fill_value)
    return _make_like(lambda shape, kind: np.full(shape, number, kind), x, dtype, device)


def _make_like(make: Any, x: Any, dtype: Any, device: object) -> Array:
    place = x.device if device is None and isinstance(x, Array) else device_of(device)
    return place_on_device(make(x.shape, x.dtype if dtype is None else dtype), place)


def from_dlpack(x: Any, /, *, device: object = None, copy: bool | None = None) -> Array:
    """An array of another library, through the host's memory; without a copy on a CPU device."""
    if isinstance(x, Array):  # of a GPU there may be nothing in the host's memory
        return asarray(x, device=device, copy=copy)
    return asarray(np.from_dlpack(x, copy=copy), device=device, copy=copy)


def sort(x: object, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The elements along an axis in order; on the host."""
    made: Array = apply_to_memory(Array, np.sort, (asarray(x),), {"axis": axis, "stable": stable})
    return apply_to_memory(Array, np.flip, (made,), {"axis": axis}) if descending else made


def argsort(x: object, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The places from which `sort` takes its elements; on the host."""
    given = asarray(x)
    return apply_to_memory(Array, _argsort, (given, axis, descending, stable), {})  # type: ignore[no-any-return]


def _argsort(x: Any, axis: int, descending: bool, stable: bool) -> Any:
    if not descending:
        return np.argsort(x, axis=axis, stable=stable)
    found = np.flip(np.argsort(np.flip(x, axis=axis), axis=axis, stable=stable), axis=axis)
    return x.shape[axis] - 1 - found  # of equal elements the first one stays first


def astype(x: object, dtype: DTypeLike, /, *, copy: bool = True, device: object = None) -> Array:
    """The elements as another dtype; the array itself where that is its own and no copy is asked for."""
    given = asarray(x, device=device)
    return given if not copy and given.dtype == np.dtype(dtype) else given.astype(dtype)


def clip(x: object, /, min: object = None, max: object = None) -> Array:
    """The elements, none below one bound or above the other one."""
    return asarray(apply_to_memory(Array, np.clip, (x, min, max), {}))


def fftfreq(n: int, /, *, d: float = 1.0, dtype: DTypeLike | None = None, device: object = None) -> Array:
    """The frequencies of `fft`."""
    return place_on_device(np.fft.fftfreq(n, d=d).astype(dtype or float), device_of(device))


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: DTypeLike | None = None, device: object = None) -> Array:
    """The frequencies of `rfft`."""
    return place_on_device(np.fft.rfftfreq(n, d=d).astype(dtype or float), device_of(device))


def finfo(type: object, /) -> Any:
    """Limits of a floating type, or of an array's, as Python's floats."""
    found = np.finfo(_dtype(type))
    names = ("eps", "max", "min", "smallest_normal")
    numbers = {name: float(getattr(found, name)) for name in names}
    return types.SimpleNamespace(dtype=found.dtype, bits=found.bits, **numbers)


def iinfo(type: object, /) -> Any:
    """Limits of an integer type, or of an array's."""
    found = np.iinfo(_dtype(type))
    return types.SimpleNamespace(dtype=found.dtype, bits=found.bits, max=int(found.max), min=int(found.min))


def _dtype(type: object) -> Any:
    return type.dtype if isinstance(type, Array) else type
