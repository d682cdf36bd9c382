"""Run kernels on device arrays: where the elements are, without a copy to the host and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any  # arguments of kernels are arbitrary objects

import numpy as np

from srcgrad.opencl.device import Device, using
from srcgrad.opencl.launch import Kernel
from srcgrad.opencl.store import OnDevice

if TYPE_CHECKING:
    from srcgrad.opencl.array import Array


class Resident:
    """A device as a launch sees it whose results stay there: what a `Device` does, but for what goes in and out."""

    def __init__(self, device: Device, first: Array, arrays: dict[int, Array]) -> None:
        self.device = device
        self.first = first
        self.arrays = arrays  # by the identity of the NumPy arrays that stand for them
        self.copies = True  # so that every launch hands over its results
        self.small = None  # one queue: what is launched later reads what is launched now
        self.number, self.is_gpu, self.has_fp64 = device.number, device.is_gpu, device.has_fp64
        self.sums, self.groups, self.build, self.run = device.sums, device.groups, device.build, device.run

    def given(self, memory: Any) -> Any:
        """The buffer of a device array; one with a copy for a NumPy array."""
        view = getattr(memory, "_owner", memory)
        array = self.arrays.get(id(view))
        if array is None:
            return self.device.given(memory)
        store = array.store
        assert isinstance(store, OnDevice), "on a CPU device launches use the memory as it is"
        return store.source(view, view.nbytes if memory is view else len(memory))

    def taken(self, made: Any) -> Any:
        """A buffer that becomes the memory of a result."""
        return self.device.allocated(made.nbytes)

    def finish(self, small: bool, arrays: list[Any], buffers: list[Any]) -> list[Any]:
        """The results as device arrays, which are waited for when the host reads them."""
        pairs = zip(arrays, buffers, strict=True)
        found = [type(self.first)(made, OnDevice(self.device, made, buffer)) for made, buffer in pairs]
        self.arrays.update((id(array.memory), array) for array in found)
        return found


def launched(kernel: Kernel, args: tuple[Any, ...], first: Array) -> Any:
    """The results of a kernel for arguments among which are device arrays, of which `first` is one.

    NotImplemented where the C is not for these arguments.
    """
    device = first.device
    if not device.is_gpu:
        plain = tuple(value.memory if type(value) is type(first) else value for value in args)
        found = kernel.fitting(plain, device)
        return NotImplemented if found is None else _placed(kernel.launched(found, plain, device), first)
    args = tuple(_regular(value) if type(value) is type(first) else value for value in args)
    arrays = {id(value.memory): value for value in args if type(value) is type(first) and value.ndim}
    plain = tuple(value.memory if type(value) is type(first) else value for value in args)
    found = kernel.fitting(plain, device)
    if found is None:
        return NotImplemented
    resident: Any = Resident(device, first, arrays)  # answers what launches ask of a Device
    with using(device):
        return _placed(kernel.launched(found, plain, resident), first)


def _regular(array: Array) -> Array:
    """An array whose mirror a launch need not read: a number is up to date, odd strides are gone."""
    view = array.memory
    if not view.ndim:
        array.store.read()
        return array
    odd = not view.flags.aligned or any(s < 0 or s % view.itemsize for s in view.strides)
    return array.beside(np.array(array.read(), order="C")) if odd else array


def _placed(found: Any, first: Array) -> Any:
    """Results that NumPy memory holds, on the device."""
    if isinstance(found, tuple):
        return tuple(_placed(part, first) for part in found)
    return found if type(found) is type(first) else first.beside(found)
