"""NumPy's functions on the memory of device arrays, and their results on the same device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any  # functions, arguments and results of every kind

import numpy as np

from srcgrad.core.errors import DifferentiationError
from srcgrad.opencl.arrayfunctions import full_name

if TYPE_CHECKING:
    from srcgrad.opencl.array import Array


def applied(
    kind: type[Array],
    function: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    looks: bool = False,
    writes: bool = False,
    named: Any = None,
) -> Any:
    """What a NumPy function gives for the memory of arrays (of type `kind`), as arrays on their device.

    One that only `looks` need not find the elements up to date; one that `writes` does so into its first argument.
    """
    arrays: list[Array] = []
    plain = tuple(taken(value, kind, arrays) for value in args)
    words = {key: taken(value, kind, arrays) for key, value in kwargs.items()}
    if not arrays:
        return function(*plain, **words)
    device_of(arrays)
    if not looks:
        for array in arrays:
            array.store.read()
    if writes and type(args[0]) is kind:
        args[0].store.write()
    found = function(*plain, **words)
    if looks and not _are_held(found, arrays):  # a reshape that copies
        return applied(kind, function, args, kwargs, named=named)
    return _given(found, arrays, words.get("out"), named or function)


def taken(value: Any, kind: type[Array], arrays: list[Array]) -> Any:
    """A value with the memory of device arrays in their place; they are added to `arrays`."""
    if type(value) is kind:
        if value.is_number:
            value.store.read()
            arrays.append(value)
            return value.memory[()]
        arrays.append(value)
        return value.memory
    if type(value) is tuple or type(value) is list:
        return type(value)(taken(part, kind, arrays) for part in value)
    return value


def _given(found: Any, arrays: list[Array], out: Any, function: Any) -> Any:
    """Results as arrays: those that lie in the memory of an argument there, others in memory of their own."""
    if isinstance(found, np.ndarray):
        for array in arrays:
            if found is array.memory:
                array.store.write()  # it was the `out` of a function
                return array
        if out is not None and any(found is one for one in (out if isinstance(out, tuple) else (out,))):
            return found
        if found.dtype.kind == "O":
            raise TypeError(f"{full_name(function)} would make an array of objects of a device array")
        held = next((array.store for array in arrays if array.store.holds(found)), None)
        return array.beside(found) if held is None else type(array)(found, held)
    if isinstance(found, np.generic):
        return arrays[0].beside(found)
    if isinstance(found, tuple | list):
        parts = [_given(part, arrays, out, function) for part in found]
        return type(found)(*parts) if hasattr(found, "_fields") else type(found)(parts)
    return found


def _are_held(found: Any, arrays: list[Array]) -> bool:
    if isinstance(found, tuple | list):
        return all(_are_held(part, arrays) for part in found)
    return not isinstance(found, np.ndarray) or any(array.store.holds(found) for array in arrays)


def device_of(arrays: list[Array]) -> None:
    """E5020 if arrays are on two devices."""
    for array in arrays[1:]:
        one, other = arrays[0].device, array.device
        if one is not other:
            what = f"an array is on device {one.number}, another one on device {other.number}"
            raise DifferentiationError("E5020", what, "move one of them: x.to_device(y.device)")
