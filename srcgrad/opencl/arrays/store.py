"""Where the elements of device arrays are: on a CPU in the host's memory, elsewhere in a buffer with a mirror here.

Both kinds answer the same few questions, so that an array need not know on which one it lies. `read` brings the host's
side up to date, `write` also says that it is about to change, `holds` tells whether a NumPy array lies in this memory,
and `adopt` gives new NumPy memory a place on the same device.
"""

from __future__ import annotations

import threading
from typing import Any  # pyopencl ships no types of its own

import numpy as np

from srcgrad.opencl.devices.device import Device
from srcgrad.opencl.devices.memory import address


class OnHost:
    """The memory of a CPU device, which is the host's: there is nothing to bring up to date."""

    __slots__ = ("device",)

    def __init__(self, device: Device) -> None:
        self.device = device

    def read(self) -> None:
        """The host's side is always up to date."""

    def write(self) -> None:
        """No other side goes out of date."""

    def holds(self, array: object) -> bool:
        """Every NumPy array lies in the host's memory."""
        return True

    def adopt(self, array: object) -> tuple[object, OnHost]:
        """New memory is used where it is."""
        return array, self


class OnDevice:
    """One piece of memory: a buffer on the device and a mirror on the host, of which one may be out of date.

    The mirror takes up no pages before it is read or written for the first time.
    """

    __slots__ = ("buffer", "buffer_is_current", "bytes", "device", "lock", "mirror_is_current", "owner")

    def __init__(self, device: Device, owner: object, buffer: object = None) -> None:
        self.device = device
        self.owner = owner  # the mirror: the NumPy array that owns it
        self.bytes = _bytes(owner)
        self.buffer = buffer
        self.buffer_is_current = buffer is not None
        self.mirror_is_current = buffer is None
        self.lock = threading.Lock()

    def read(self) -> None:
        """Bring the mirror up to date."""
        with self.lock:
            self._read()

    def write(self) -> None:
        """The mirror is about to change: bring it up to date, and call the buffer old."""
        with self.lock:
            self._read()
            self.buffer_is_current = False

    def _read(self) -> None:
        if not self.mirror_is_current:
            self.device.cl.enqueue_copy(self.device.queue, self.bytes, self.buffer)
            self.mirror_is_current = True

    def holds(self, array: object) -> bool:
        """Whether a NumPy array lies in the mirror."""
        return owner_of(array) is self.owner

    def adopt(self, array: Any) -> tuple[Any, OnDevice]:
        """New memory of the host becomes the mirror of a buffer that is made when a kernel reads it."""
        if not array.flags.owndata or not _in_memory_order(array).flags.c_contiguous:
            array = np.array(array, order="C")  # others may hold its memory, or there are gaps in it
        return array, OnDevice(self.device, array)

    def source(self, view: object, size: int) -> Any:
        """A buffer that begins with the first element of a view, to be read by a kernel."""
        cl, queue = self.device.cl, self.device.queue
        with self.lock:
            self._upload()
        start = address(view) - address(self.bytes)
        if not start:
            return self.buffer
        part = self.device.allocated(size)  # devices ask for aligned starts: a copy there costs less than a rule here
        cl.enqueue_copy(queue, part, self.buffer, byte_count=size, src_offset=start)
        return part

    def _upload(self) -> None:
        if self.buffer is None:
            self.buffer = self.device.allocated(self.bytes.nbytes)
        if not self.buffer_is_current:
            self.device.cl.enqueue_copy(self.device.queue, self.buffer, self.bytes)
            self.buffer_is_current = True

    def fill(self, view: Any, other: OnDevice, given: object) -> None:
        """Copy what `given` shows of another store to where `view` is in this one, both in one piece, on the device."""
        size = view.nbytes
        part = other.source(given, size)
        with self.lock:
            if size < self.bytes.nbytes:
                self._upload()
            elif self.buffer is None:
                self.buffer = self.device.allocated(size)
            start = address(view) - address(self.bytes)
            self.device.cl.enqueue_copy(self.device.queue, self.buffer, part, byte_count=size, dst_offset=start)
            self.buffer_is_current, self.mirror_is_current = True, False


def owner_of(array: Any) -> Any:
    """The NumPy array whose memory a NumPy array shows."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def offset_of(array: Any) -> int:
    """Bytes from the beginning of the memory to the first element of an array."""
    owner = owner_of(array)
    return address(array) - address(owner) if array.size and owner.size else 0


def _in_memory_order(owner: Any) -> Any:
    """The owner of memory with its axes in the order in which they lie there."""
    return owner.transpose(sorted(range(owner.ndim), key=lambda k: -owner.strides[k]))


def _bytes(owner: Any) -> Any:
    return _in_memory_order(owner).reshape(-1).view(np.uint8) if owner.size else np.empty(0, np.uint8)


def store_on(device: Device, array: object) -> tuple[object, OnHost | OnDevice]:
    """New memory of the host on a device: the array, which may be a dense copy, and its store."""
    if not device.is_gpu:
        return array, OnHost(device)
    return OnDevice(device, np.empty(0)).adopt(array)
