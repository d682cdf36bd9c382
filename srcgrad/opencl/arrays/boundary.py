"""Derivatives of functions of arrays on a device: what comes out, and the helpers that texts call there."""

from __future__ import annotations

import functools
from typing import Any  # arguments are arbitrary objects

import numpy as np

from srcgrad import runtime
from srcgrad.core.target import DeviceArray
from srcgrad.opencl import scattered
from srcgrad.opencl.arrays.array import Array, apply_to_memory
from srcgrad.opencl.arrays.creation import place_on_device
from srcgrad.opencl.arrays.store import owner_of
from srcgrad.opencl.devices.device import Device
from srcgrad.runtime.structure import mapped


def gradient_on_device(gradient: DeviceArray, value: DeviceArray, others: list[object]) -> DeviceArray | None:
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


_LOOKING = (*(one for one in vars(runtime.checks) if one.startswith("check_")), "spread")


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
