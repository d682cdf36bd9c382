"""Functions of the array API that NumPy has with fewer arguments, or not at all."""

from __future__ import annotations

import types
from typing import Any  # arrays and dtypes of every kind

import numpy as np

from srcgrad.opencl.applied import applied
from srcgrad.opencl.array import Array
from srcgrad.opencl.creation import asarray, device_of, placed


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The elements along an axis in order; on the host."""
    made: Array = applied(Array, np.sort, (asarray(x),), {"axis": axis, "stable": stable})
    return applied(Array, np.flip, (made,), {"axis": axis}) if descending else made


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The places from which `sort` takes its elements; on the host."""
    given = asarray(x)
    return applied(Array, _argsort, (given, axis, descending, stable), {})  # type: ignore[no-any-return]


def _argsort(x: Any, axis: int, descending: bool, stable: bool) -> Any:
    if not descending:
        return np.argsort(x, axis=axis, stable=stable)
    found = np.flip(np.argsort(np.flip(x, axis=axis), axis=axis, stable=stable), axis=axis)
    return x.shape[axis] - 1 - found  # of equal elements the first one stays first


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """The elements as another dtype; the array itself where that is its own and no copy is asked for."""
    given = asarray(x, device=device)
    return given if not copy and given.dtype == np.dtype(dtype) else given.astype(dtype)


def clip(x: Any, /, min: Any = None, max: Any = None) -> Array:
    """The elements, none below one bound or above the other one."""
    return asarray(applied(Array, np.clip, (x, min, max), {}))


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """The frequencies of `fft`."""
    return placed(np.fft.fftfreq(n, d=d).astype(dtype or float), device_of(device))


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """The frequencies of `rfft`."""
    return placed(np.fft.rfftfreq(n, d=d).astype(dtype or float), device_of(device))


def finfo(type: Any, /) -> Any:
    """Limits of a floating type, or of an array's, as Python's floats."""
    found = np.finfo(_dtype(type))
    names = ("eps", "max", "min", "smallest_normal")
    numbers = {name: float(getattr(found, name)) for name in names}
    return types.SimpleNamespace(dtype=found.dtype, bits=found.bits, **numbers)


def iinfo(type: Any, /) -> Any:
    """Limits of an integer type, or of an array's."""
    found = np.iinfo(_dtype(type))
    return types.SimpleNamespace(dtype=found.dtype, bits=found.bits, max=int(found.max), min=int(found.min))


def _dtype(type: Any) -> Any:
    return type.dtype if isinstance(type, Array) else type
