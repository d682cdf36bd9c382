"""The array on a device: a handle of NumPy memory there, or of a buffer with a mirror here.

It does what NumPy's arrays do, through NumPy's own protocols: operators and functions run as kernels where that pays,
and otherwise in NumPy on the same memory. What has no form for it raises TypeError.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Iterator
from typing import Any  # elements, indices and functions of every kind

import numpy as np

from srcgrad.opencl.applied import applied, device_of
from srcgrad.opencl.arrayfunctions import (
    KNOWN,
    LOOKING,
    LOOKING_METHODS,
    METHODS,
    WRITING,
    WRITING_METHODS,
    full_name,
)
from srcgrad.opencl.assigned import filled, is_basic, put
from srcgrad.opencl.device import Device
from srcgrad.opencl.operators import changed, compared, operators
from srcgrad.opencl.resident import launched
from srcgrad.opencl.single import TOTAL, kernel_for
from srcgrad.opencl.store import OnDevice, OnHost, offset_of

_SIMPLE = (np.ndarray, np.generic, int, float, complex, list, tuple)
_FORMS = ("2021.12", "2022.12", "2023.12", "2024.12")


class Array:
    """An array on an OpenCL device; make one with `srcgrad.opencl.asarray`, `zeros`, `linspace` and the like.

    `memory` is the NumPy array of its elements; on a device that is not the host's it shows the mirror, and `store`
    brings that up to date. What NumPy gives as a number is an array without axes here, which in-place operators leave
    alone, as they do NumPy's numbers; `x[()] = 1.0` changes it, as the array API has it.
    """

    __slots__ = ("__weakref__", "memory", "store")
    __array_priority__ = 1000.0
    __hash__ = None  # type: ignore[assignment]  # == is elementwise

    def __init__(self, memory: Any, store: OnHost | OnDevice) -> None:
        self.memory = memory
        self.store = store

    def beside(self, found: Any) -> Any:
        """New NumPy memory, or a number of NumPy's, on the same device."""
        if isinstance(found, np.generic):
            found = np.asarray(found)
            found.setflags(write=False)
        return Array(*self.store.adopt(found)) if isinstance(found, np.ndarray) else found

    def read(self) -> Any:
        """The elements as a NumPy array that is up to date, and not to be written into."""
        self.store.read()
        return self.memory

    dtype = property(lambda self: self.memory.dtype)
    shape = property(lambda self: self.memory.shape)
    ndim = property(lambda self: self.memory.ndim)
    size = property(lambda self: self.memory.size)
    strides = property(lambda self: self.memory.strides)
    itemsize = property(lambda self: self.memory.itemsize)
    nbytes = property(lambda self: self.memory.nbytes)
    flags = property(lambda self: self.memory.flags)
    offset = property(lambda self: offset_of(self.memory), doc="Bytes from the start of the memory.")
    T = property(lambda self: Array(self.memory.T, self.store))
    mT = property(lambda self: Array(self.memory.mT, self.store))  # noqa: N815  # the standard's name
    real = property(lambda self: applied(Array, np.real, (self,), {}))
    imag = property(lambda self: applied(Array, np.imag, (self,), {}))
    flat = property(lambda self: iter(self.ravel()))

    @property
    def device(self) -> Device:
        """The device on which the elements are."""
        return self.store.device

    @property
    def is_number(self) -> bool:
        """Whether NumPy would have a number here: operators in place make another one of it."""
        return not self.memory.ndim and not self.memory.flags.writeable

    def __getattr__(self, name: str) -> Any:
        if name in METHODS:
            return functools.partial(_method, self, name)
        raise AttributeError(f"a device array has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *METHODS})

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        outs = kwargs.get("out", ())
        if not all(isinstance(v, (Array, *_SIMPLE)) for v in (*inputs, *outs) if v is not None):
            return NotImplemented
        if self.device.is_gpu and method == "__call__" and kwargs.keys() <= {"out"}:
            found = _as_kernel(ufunc, inputs, self)
            if found is not NotImplemented and (not outs or filled(outs[0], found)):
                return outs[0] if outs else found
        return applied(Array, getattr(ufunc, method), inputs, kwargs, writes=method == "at", named=ufunc)

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if function is np.sum and len(args) == 1 and not kwargs and self.device.is_gpu:
            return _total(self)
        if function not in KNOWN:
            raise TypeError(f"{full_name(function)} has no form for device arrays: give it np.asarray(x)")
        return applied(Array, function, args, kwargs, looks=function in LOOKING, writes=function in WRITING)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        if api_version is not None and api_version not in _FORMS:
            raise ValueError(f"no version {api_version!r} of the array API is known here")
        return sys.modules["srcgrad.opencl"]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if self.device.is_gpu or self.is_number:
            if copy is False:
                raise ValueError("this array is not in the host's memory: NumPy needs a copy")
            return self.read().astype(dtype or self.dtype)
        return np.array(self.memory, dtype, copy=copy)

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None
    ) -> Any:
        wanted = {"stream": stream, "max_version": max_version, "dl_device": dl_device}
        if not self.device.is_gpu and not self.is_number:
            return self.memory.__dlpack__(**wanted, copy=copy)
        if copy is False or (dl_device or (1, 0)) != (1, 0):
            raise BufferError("this array is not in the host's memory: a copy can be had on the CPU, (1, 0)")
        return self.read().copy().__dlpack__(**wanted)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # host memory, or a copy there

    def to_device(self, device: Any, /, *, stream: Any = None) -> Array:
        """The array on a device, which is itself if it is there; see `srcgrad.opencl.asarray` for names of devices."""
        if stream is not None:
            raise ValueError("there are no streams to choose from")
        return sys.modules["srcgrad.opencl"].asarray(self, device=device)  # type: ignore[no-any-return]

    def srcgrad_launch(self, kernel: Any, args: tuple[Any, ...]) -> Any:
        """What `launch` gives for a kernel with this array among its arguments."""
        device_of([value for value in args if type(value) is Array])
        found = launched(kernel, args, self)
        return kernel.function(*args) if found is NotImplemented else found

    def __getitem__(self, index: Any) -> Any:
        if is_basic(index):
            found = self.memory[index]
            if isinstance(found, np.ndarray):
                return Array(found, self.store)
            return self.beside(self.read()[index])
        return applied(Array, operator.getitem, (self, index), {})

    def __setitem__(self, index: Any, value: Any) -> None:
        put(self, index, value)

    def __len__(self) -> int:
        return len(self.memory)

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise TypeError("an array without axes has no items")
        return (self[k] for k in range(len(self)))

    def __contains__(self, item: Any) -> bool:
        return bool((self == item).any())

    def __bool__(self) -> bool:
        return bool(self.read())

    def __int__(self) -> int:
        return int(self.read())

    def __float__(self) -> float:
        return float(self.read())

    def __complex__(self) -> complex:
        return complex(self.read())

    def __index__(self) -> int:
        return operator.index(self.read())

    def copy(self, order: str = "C") -> Array:
        """The elements in memory of their own."""
        found = _as_kernel(np.positive, (self,), self) if self.device.is_gpu and order == "C" else NotImplemented
        return _method(self, "copy", order) if found is NotImplemented else found  # type: ignore[no-any-return]

    def item(self, *place: Any) -> Any:
        """An element, as Python's number."""
        return self.read().item(*place)

    def tolist(self) -> Any:
        """Nested lists of Python's numbers."""
        return self.read().tolist()

    def __copy__(self) -> Array:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Array:
        return self.copy()

    def __reduce__(self) -> Any:
        return sys.modules["srcgrad.opencl"].asarray, (self.read().copy(),)

    def __repr__(self) -> str:
        return repr(np.asarray(self.read())).replace("array(", "Array(", 1)

    def __str__(self) -> str:
        return str(self.read())

    def __format__(self, how: str) -> str:
        return format(self.read() if self.ndim else self.item(), how)

    def __round__(self, digits: int | None = None) -> Any:
        return self.round(digits) if self.ndim else round(self.item(), digits)

    def __divmod__(self, other: Any) -> Any:
        return np.divmod(self, other)

    __add__, __radd__, __iadd__ = operators(np.add)
    __sub__, __rsub__, __isub__ = operators(np.subtract)
    __mul__, __rmul__, __imul__ = operators(np.multiply)
    __truediv__, __rtruediv__, __itruediv__ = operators(np.divide)
    __floordiv__, __rfloordiv__, __ifloordiv__ = operators(np.floor_divide)
    __mod__, __rmod__, __imod__ = operators(np.remainder)
    __pow__, __rpow__, __ipow__ = operators(np.power)
    __matmul__, __rmatmul__, __imatmul__ = operators(np.matmul)
    __and__, __rand__, __iand__ = operators(np.bitwise_and)
    __or__, __ror__, __ior__ = operators(np.bitwise_or)
    __xor__, __rxor__, __ixor__ = operators(np.bitwise_xor)
    __lshift__, __rlshift__, __ilshift__ = operators(np.left_shift)
    __rshift__, __rrshift__, __irshift__ = operators(np.right_shift)
    __eq__, __ne__ = compared(np.equal), compared(np.not_equal)
    __lt__ = compared(np.less)
    __le__ = compared(np.less_equal)
    __gt__ = compared(np.greater)
    __ge__ = compared(np.greater_equal)

    __neg__, __pos__ = changed(np.negative), changed(np.positive)
    __abs__, __invert__ = changed(np.absolute), changed(np.invert)


def _total(array: Array) -> Any:
    """The sum of all elements, added up where they are."""
    found = launched(TOTAL, (array,), array)
    return applied(Array, np.sum, (array,), {}) if found is NotImplemented else found


def _method(array: Array, name: str, *args: Any, **kwargs: Any) -> Any:
    if name == "sum" and not args and not kwargs and array.device.is_gpu:
        return _total(array)
    looks, writes = name in LOOKING_METHODS, name in WRITING_METHODS
    method = getattr(np.ndarray, name)
    return applied(Array, _of_memory, (array, name, *args), kwargs, looks=looks, writes=writes, named=method)


def _of_memory(memory: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """A method of an array, or of a number of NumPy's."""
    return getattr(memory, name)(*args, **kwargs)


def _as_kernel(ufunc: Any, inputs: tuple[Any, ...], first: Array) -> Any:
    """The result of an elementwise operation as a kernel on the device; NotImplemented where there is none."""
    kernel = kernel_for(ufunc)
    if kernel is None:
        return NotImplemented
    device_of([value for value in inputs if type(value) is Array])
    return launched(kernel, inputs, first)
