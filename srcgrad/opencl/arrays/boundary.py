"""Derivatives of functions of arrays on a device: what goes in and out, and the helpers that texts call there."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable
from typing import Any  # arguments are arbitrary objects

import numpy as np

from srcgrad import runtime
from srcgrad.opencl import scattered
from srcgrad.opencl.arrays.array import Array, apply_to_memory, device_of
from srcgrad.opencl.arrays.creation import place_on_device
from srcgrad.opencl.arrays.store import owner_of
from srcgrad.opencl.devices.device import Device
from srcgrad.runtime.structure import mapped

_PLAIN = (np.ndarray, float, int, np.float64, np.float32, bool, str, type(None))  # what holds no device array


def device_in(values: Iterable[Any]) -> Device | None:
    """The device of the arrays among values and in containers there; None if there are none, E5020 if there are two."""
    arrays: list[Array] = []
    for value in values:
        if type(value) in _PLAIN or (type(value) in (list, tuple) and all(type(part) in _PLAIN for part in value)):
            continue
        _replace_arrays(value, arrays.append)
    if not arrays:
        return None
    device_of(arrays)
    return arrays[0].device


def on_host(value: object) -> Any:
    """A value with NumPy memory in place of device arrays: on a CPU device, that in which they are."""
    return value if type(value) in _PLAIN else _replace_arrays(value, _read)


def as_memory(value: object) -> object:
    """A value with NumPy memory in place of device arrays, of which only shape and dtype are to be looked at."""
    return value if type(value) in _PLAIN else _replace_arrays(value, _memory_of_array)


def are_direct(values: Iterable[object]) -> bool:
    """Whether device arrays are arguments themselves, none a part of one: a text can then run on them."""
    return not any(_map_parts(value, as_memory) is not value for value in values if type(value) is not Array)


def on_device(found: object, device: Device | None) -> Any:
    """Results on a device, if there is one: arrays, and numbers of NumPy's as arrays without axes."""
    if device is None:
        return found
    if isinstance(found, np.ndarray | np.generic):
        return placed_number(found, device)
    return _map_parts(found, lambda part: on_device(part, device))


def gradient_on_device(gradient: Array, value: Array, others: list[object]) -> Array | None:
    """A gradient that is on the device already, in memory of its own; None if it does not fit its argument.

    `others` lists arrays, or their mirrors, with which it must not share memory; its own is added to it.
    """
    if gradient.shape != value.shape or gradient.dtype != value.dtype or value.is_number or gradient.is_number:
        return None
    memory = gradient.memory
    whole = memory.flags.c_contiguous and memory.flags.writeable and owner_of(memory).nbytes == memory.nbytes
    if not whole or any(isinstance(o, np.ndarray) and np.may_share_memory(memory, o) for o in others):
        gradient = gradient.copy()
    others.append(gradient.memory)
    return gradient


def placed_number(found: Any, device: Device) -> Array:
    """An array, or a number that does not change in place, on a device."""
    made = place_on_device(np.asarray(found), device)
    if isinstance(found, np.generic):
        made.memory.setflags(write=False)
    return made


def _read(array: Array) -> Any:
    return array.read()[()] if array.is_number else array.read()


def _memory_of_array(array: Array) -> object:
    return array.memory[()] if array.is_number else array.memory


def _replace_arrays(value: object, change: Callable[[Array], object]) -> object:
    """A value with something else in place of each device array; itself if there are none."""
    if type(value) in _PLAIN:
        return value
    if type(value) is Array:
        return change(value)
    return _map_parts(value, lambda part: _replace_arrays(part, change))


def _map_parts(value: object, change: Callable[[Any], Any]) -> Any:
    """A container with its parts changed; itself if none of them changes, or if it is none."""
    if isinstance(value, tuple | list):
        parts = [change(part) for part in value]
        if all(one is other for one, other in zip(parts, value, strict=True)):
            return value
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        items = {key: change(part) for key, part in value.items()}
        return items if any(items[key] is not part for key, part in value.items()) else value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value) if field.init]
        made = {name: change(getattr(value, name)) for name in names}
        same = all(part is getattr(value, name) for name, part in made.items())
        return value if same else dataclasses.replace(value, **made)
    return value


_LOOKING = (
    "check_array",
    "check_arrays",
    "check_sequences",
    "check_operand",
    "check_left_out",
    "check_module",
    "check_dtype",
    "check_method",
    "check_complex",
    "check_floating",
    "check_input",
    "check_item",
    "check_number",
    "check_seed",
    "check_shapes",
    "check_shape",
    "spread",
)


def sum_to(g: object, x: object, dtype: object = None) -> object:
    """`runtime.sum_to`, of which arrays that fit need nothing."""
    if dtype is not None:
        return _in_numpy(runtime.sum_to, g, x, dtype)
    if type(g) is type(x) is Array and g.shape == x.shape and g.dtype == x.dtype and g.dtype.kind in "fc":
        return g
    return _in_numpy(runtime.sum_to, g, x)


def zeros_like(x: Any) -> Any:
    """`runtime.zeros_like`, on the device of an array."""
    if type(x) is Array:
        made = runtime.zeros_like(x.memory[()] if x.is_number else x.memory)
        return made if x.is_number else x.on_same_device(made)
    if isinstance(x, list | tuple | dict) or hasattr(x, "__dataclass_fields__"):
        return mapped(zeros_like, x)
    return runtime.zeros_like(x)


def add(a: object, b: object) -> Any:
    """`runtime.add`; two arrays are added on their device."""
    if type(a) is Array and type(b) in (Array, float):
        return a + b
    if type(a) is list and type(b) is Array:
        return [add(item, part) for item, part in zip(a, b, strict=True)]
    if type(b) is list and type(a) is Array:
        return add(b, a)
    return runtime.add(a, b)


def add_at(x_bar: object, index: object, g: object) -> object:
    """`runtime.add_at`, of whose arrays only the one that is added to may be a device's."""
    if type(x_bar) is Array:
        return apply_to_memory(Array, runtime.add_at, (x_bar, index, g), {}, writes=True)
    return runtime.add_at(x_bar, index, g)


def scatter(g: object, x: object, index: object) -> object:
    """`runtime.scatter`."""
    return add_at(zeros_like(x), index, g)


def owned(x: Any, others: tuple[object, ...]) -> object:
    """`runtime.owned`: whether memory is shared is seen from the mirrors."""
    if type(x) is not Array:
        return runtime.owned(x, others)
    runtime.owned(x.memory[:0] if x.ndim else x.memory, ())
    near = (type(other) is Array and np.may_share_memory(x.memory, other.memory) for other in others)
    if any(other is x for other in others) or any(near):
        runtime.owned(x.memory, (x.memory,))  # which raises
    return x.copy()


def _in_numpy(helper: Any, *args: object, **kwargs: Any) -> object:
    looks = helper.__name__ in _LOOKING
    return apply_to_memory(Array, helper, args, kwargs, looks=looks)


_FORMS = {form.__name__: form for form in (sum_to, zeros_like, add, add_at, scatter, owned)}
_FOR_DEVICES = {
    getattr(runtime, name): _FORMS.get(name) or functools.partial(_in_numpy, getattr(runtime, name))
    for name in runtime.__all__
}


def equip(namespace: dict[str, object]) -> None:
    """Put the forms for devices under the names of helpers in the namespace of a text."""
    for name, value in list(namespace.items()):
        if value is scattered.add_at:
            namespace[name] = add_at
        elif callable(value) and getattr(value, "__module__", "").startswith("srcgrad.runtime"):
            namespace[name] = _FOR_DEVICES.get(value, value)
