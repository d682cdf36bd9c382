"""The helpers of generated text, for arrays in buffers: what only looks does not read, what adds stays on the device.

The text is the same; where it runs on such arrays, these stand under the helpers' names. A helper without a form of
its own runs in NumPy on the mirrors, as NumPy's functions do.
"""

from __future__ import annotations

import functools
from typing import Any  # helpers take values of every kind

import numpy as np

from srcgrad import runtime
from srcgrad.opencl import scattered
from srcgrad.opencl.applied import applied
from srcgrad.opencl.array import Array
from srcgrad.runtime.structure import mapped

_LOOKING = (
    "check_array",
    "check_arrays",
    "check_operand",
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


def sum_to(g: Any, x: Any, dtype: Any = None) -> Any:
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
        return made if x.is_number else x.beside(made)
    if isinstance(x, list | tuple | dict) or hasattr(x, "__dataclass_fields__"):
        return mapped(zeros_like, x)
    return runtime.zeros_like(x)


def add(a: Any, b: Any) -> Any:
    """`runtime.add`; two arrays are added on their device."""
    if type(a) is Array and type(b) in (Array, float):
        return a + b
    if type(a) is list and type(b) is Array:
        return [add(item, part) for item, part in zip(a, b, strict=True)]
    if type(b) is list and type(a) is Array:
        return add(b, a)
    return runtime.add(a, b)


def add_at(x_bar: Any, index: Any, g: Any) -> Any:
    """`runtime.add_at`, of whose arrays only the one that is added to may be a device's."""
    if type(x_bar) is Array:
        return applied(Array, runtime.add_at, (x_bar, index, g), {}, writes=True)
    return runtime.add_at(x_bar, index, g)


def scatter(g: Any, x: Any, index: Any) -> Any:
    """`runtime.scatter`."""
    return add_at(zeros_like(x), index, g)


def owned(x: Any, others: tuple[Any, ...]) -> Any:
    """`runtime.owned`: whether memory is shared is seen from the mirrors."""
    if type(x) is not Array:
        return runtime.owned(x, others)
    runtime.owned(x.memory[:0] if x.ndim else x.memory, ())
    near = (type(other) is Array and np.may_share_memory(x.memory, other.memory) for other in others)
    if any(other is x for other in others) or any(near):
        runtime.owned(x.memory, (x.memory,))  # which raises
    return x.copy()


def _in_numpy(helper: Any, *args: Any, **kwargs: Any) -> Any:
    looks = helper.__name__ in _LOOKING
    return applied(Array, helper, args, kwargs, looks=looks)


_FORMS = {form.__name__: form for form in (sum_to, zeros_like, add, add_at, scatter, owned)}
_FOR_DEVICES = {
    getattr(runtime, name): _FORMS.get(name) or functools.partial(_in_numpy, getattr(runtime, name))
    for name in runtime.__all__
}


def equip(namespace: dict[str, Any]) -> None:
    """Put the forms for devices under the names of helpers in the namespace of a text."""
    for name, value in list(namespace.items()):
        if value is scattered.add_at:
            namespace[name] = add_at
        elif callable(value) and getattr(value, "__module__", "").startswith("srcgrad.runtime"):
            namespace[name] = _FOR_DEVICES.get(value, value)
