"""The array API's names for device arrays: NumPy's functions of these names, on arrays of the device at hand.

NumPy's own namespace follows the standard, so a function here takes arrays out, calls NumPy's, and puts the results
back. Only what makes arrays of nothing is written out, in `creation`. Random numbers are drawn on the host by NumPy's
generators, so that they are the same on every device. Texts of derivatives call helpers here.
"""

from __future__ import annotations

import functools
import types
from typing import Any  # generators take and give arbitrary objects

import numpy as np

from srcgrad import runtime
from srcgrad.core.target import DeviceArray
from srcgrad.opencl import scattered
from srcgrad.opencl.arrays import creation
from srcgrad.opencl.arrays.array import LOOKING, Array, apply_to_memory, owner_of
from srcgrad.opencl.arrays.creation import asarray, device_of, place_on_device
from srcgrad.opencl.devices.device import Device, found
from srcgrad.opencl.devices.trusted import called, current
from srcgrad.runtime.structure import mapped


class Generator:
    """A generator of NumPy's whose arrays are on a device: `default_rng(1).normal(size=3)`."""

    def __init__(self, generator: np.random.Generator, device: object) -> None:
        self.generator = generator
        self.device = device

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.generator, name)
        return functools.partial(self._draw_on_device, method) if callable(method) else method

    def _draw_on_device(self, method: Any, *args: object, **kwargs: object) -> object:
        plain = [value.read() if isinstance(value, Array) else value for value in args]
        named = {key: value.read() if isinstance(value, Array) else value for key, value in kwargs.items()}
        made = method(*plain, **named)
        return asarray(made, device=self.device) if isinstance(made, np.ndarray) else made


def default_rng(seed: Any = None, *, device: object = None) -> Generator:
    """NumPy's `default_rng`, with arrays on a device.

    >>> bool((default_rng(3).normal(size=4) == np.random.default_rng(3).normal(size=4)).all())
    True
    """
    return Generator(np.random.default_rng(seed), device_of(device))


RANDOM = types.SimpleNamespace(Generator=Generator, default_rng=default_rng)


VERSION = "2024.12"

_CREATION = """arange asarray empty empty_like eye from_dlpack full full_like linspace ones ones_like zeros
zeros_like"""

_FUNCTIONS = """abs acos acosh add all any argmax argmin asin asinh atan atan2 atanh bitwise_and
bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor broadcast_arrays broadcast_to can_cast
ceil concat conj copysign cos cosh count_nonzero cumulative_prod cumulative_sum diff divide equal exp expand_dims
expm1 flip floor floor_divide greater greater_equal hypot imag isfinite isinf isnan less less_equal log log10 log1p
log2 logaddexp logical_and logical_not logical_or logical_xor matmul matrix_transpose max maximum mean meshgrid min
minimum moveaxis multiply negative nextafter nonzero not_equal permute_dims positive pow prod real reciprocal
remainder repeat reshape result_type roll round searchsorted sign signbit sin sinh sqrt square squeeze stack std
subtract sum take take_along_axis tan tanh tensordot tile tril triu trunc unique_all unique_counts unique_inverse
unique_values unstack var vecdot where einsum"""

_LINALG = """cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank
matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm"""

_FFT = """fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft fftfreq rfftfreq fftshift ifftshift"""

_DTYPES = """bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128"""

_STANDARD = "argsort astype clip finfo iinfo sort"

_AS_THEY_ARE = f"e inf nan newaxis pi isdtype {_DTYPES}"

_MADE = ("__array_api_version__", "__array_namespace_info__", "linalg", "fft", "random")

NAMES = frozenset(f"{_CREATION} {_FUNCTIONS} {_STANDARD} {_AS_THEY_ARE}".split()) | frozenset(_MADE)


def function_named(name: str) -> object:
    """What the namespace has under a name; AttributeError if it has nothing."""
    if name not in NAMES:
        raise AttributeError(f"module 'srcgrad.opencl' has no attribute {name!r}")
    return _make_function(name)


@functools.cache
def _make_function(name: str) -> object:
    if name in _CREATION.split():
        return getattr(creation, name)
    if name in _AS_THEY_ARE.split():
        return getattr(np, name)
    if name in _STANDARD.split():
        return getattr(creation, name)
    if name == "linalg" or name == "fft":
        home = types.SimpleNamespace()
        for one in (_LINALG if name == "linalg" else _FFT).split():
            known = getattr(creation, one, None)
            setattr(home, one, known or _on_device(getattr(getattr(np, name), one)))
        return home
    own = {"__array_api_version__": VERSION, "__array_namespace_info__": Info, "random": RANDOM}
    return own[name] if name in own else _on_device(getattr(np, name))


def _on_device(function: Any) -> object:
    """A function of NumPy's, on device arrays; NumPy arrays alone go to the chosen device."""
    plain = isinstance(function, np.ufunc)
    looks = not plain and function in LOOKING

    @functools.wraps(function)
    def call(*args: object, device: object = None, **kwargs: object) -> Any:
        found = function(*args, **kwargs) if plain else apply_to_memory(Array, function, args, kwargs, looks=looks)
        return _place_result(found, device)

    return call


def _place_result(found: object, device: object) -> Any:
    if isinstance(found, np.ndarray | np.generic) or (device is not None and isinstance(found, Array)):
        return asarray(found, device=device)
    if isinstance(found, tuple | list):
        parts = [_place_result(part, device) for part in found]
        return type(found)(*parts) if hasattr(found, "_fields") else type(found)(parts)
    return found


class Info:
    """What the standard's `__array_namespace_info__()` gives."""

    def capabilities(self) -> dict[str, object]:
        """Masks and shapes that depend on values work; arrays may have as many axes as NumPy's."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Device:
        """The chosen device."""
        return current()

    def default_dtypes(self, *, device: object = None) -> dict[str, object]:
        """The dtypes of arrays for which none is named."""
        return dict(np.__array_namespace_info__().default_dtypes())

    def dtypes(self, *, device: object = None, kind: Any = None) -> dict[str, object]:
        """The dtypes of a kind, by name."""
        return dict(np.__array_namespace_info__().dtypes(kind=kind))

    def devices(self) -> list[Device]:
        """The devices that `srcgrad devices` lists, opened."""
        return [called(str(number)) for number in range(len(found()))]


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
