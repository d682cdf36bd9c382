"""Arrays on a device, and where their elements are: in the host's memory, or in a buffer with a mirror here."""

from __future__ import annotations

import functools
import inspect
import operator
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any  # functions, arguments and results of every kind

import numpy as np

import srcgrad.templates as templates
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.target import DeviceArray
from srcgrad.core.trees import parse_tree
from srcgrad.opencl.devices.device import Device, address
from srcgrad.opencl.devices.trusted import using
from srcgrad.opencl.kernels.print_c import NotElementwiseError, Printer
from srcgrad.opencl.launch import Kernel


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


# They look at the shape and dtype, or give another view of the elements.
VIEWS = """shape ndim size reshape ravel transpose permute_dims matrix_transpose swapaxes moveaxis rollaxis squeeze
expand_dims broadcast_to broadcast_arrays atleast_1d atleast_2d atleast_3d split array_split hsplit vsplit dsplit
unstack diagonal flip fliplr flipud rot90 real imag result_type can_cast common_type iscomplexobj isrealobj
min_scalar_type zeros_like ones_like empty_like full_like linalg.diagonal linalg.matrix_transpose"""

# They read the elements.
READS = """sum prod mean std var min max amin amax ptp all any median average nansum nanprod nanmean nanstd nanvar
nanmin nanmax nanmedian nanargmin nanargmax nancumsum nancumprod percentile quantile nanpercentile nanquantile argmin
argmax count_nonzero cumsum cumprod cumulative_sum cumulative_prod diff ediff1d gradient trapezoid cov corrcoef
correlate convolve histogram bincount digitize interp dot vdot inner outer tensordot einsum einsum_path kron cross
trace where select choose concatenate concat stack vstack hstack dstack column_stack block append insert delete repeat
tile roll pad resize copy astype sort argsort partition argpartition lexsort searchsorted nonzero flatnonzero argwhere
extract compress take take_along_axis unique unique_values unique_counts unique_inverse unique_all isin in1d
intersect1d union1d setdiff1d setxor1d tril triu diag diagflat vander meshgrid ix_ clip round around fix nan_to_num
real_if_close angle sinc i0 unwrap isclose allclose array_equal array_equiv isposinf isneginf iscomplex isreal
linspace logspace geomspace sort_complex polyval polyfit polyadd polysub polymul polydiv polyder polyint poly roots
array_repr array_str array2string ravel_multi_index unravel_index packbits unpackbits trim_zeros shares_memory
may_share_memory apply_along_axis array asarray asanyarray ascontiguousarray asfortranarray zeros ones empty full
arange eye identity tril_indices_from triu_indices_from diag_indices_from bitwise_count linalg.cholesky linalg.cond
linalg.cross linalg.det linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh linalg.inv linalg.lstsq linalg.matmul
linalg.matrix_norm linalg.matrix_power linalg.matrix_rank linalg.multi_dot linalg.norm linalg.outer linalg.pinv
linalg.qr linalg.slogdet linalg.solve linalg.svd linalg.svdvals linalg.tensordot linalg.tensorinv linalg.tensorsolve
linalg.trace linalg.vecdot linalg.vector_norm fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft fft.fft2
fft.ifft2 fft.rfft2 fft.irfft2 fft.fftn fft.ifftn fft.rfftn fft.irfftn fft.fftshift fft.ifftshift"""

# They write into their first argument.
WRITES = "copyto put place putmask put_along_axis fill_diagonal"

# Methods, sorted in the same way; those of ndarray that are not here (tofile, view, resize, ...) are not there.
VIEW_METHODS = "reshape ravel transpose swapaxes squeeze diagonal"
READ_METHODS = """all any argmax argmin argsort argpartition astype choose clip compress conj conjugate copy cumprod
cumsum dot flatten max mean min nonzero prod repeat round searchsorted std sum take trace var"""
WRITE_METHODS = "fill partition put sort"


def _functions_named(names: str) -> frozenset[object]:
    found = []
    for name in names.split():
        home, _, last = name.rpartition(".")
        found.append(getattr(getattr(np, home) if home else np, last, None))
    return frozenset(f for f in found if f is not None)  # some came with later releases of NumPy


LOOKING = _functions_named(VIEWS)
WRITING = _functions_named(WRITES)
KNOWN = LOOKING | _functions_named(READS) | WRITING
METHODS = frozenset(f"{VIEW_METHODS} {READ_METHODS} {WRITE_METHODS}".split())
LOOKING_METHODS = frozenset(VIEW_METHODS.split())
WRITING_METHODS = frozenset(WRITE_METHODS.split())


def full_name(function: Any) -> str:
    """What a user calls a function: `np.linalg.svd`.

    >>> full_name(np.linalg.svd)
    'np.linalg.svd'
    """
    if isinstance(function, np.ufunc):
        return f"np.{function.__name__}"
    home = getattr(function, "__module__", None) or "ndarray"
    return f"{home}.{function.__name__}".replace("numpy", "np", 1)


@functools.lru_cache(maxsize=256)
def kernel_for(ufunc: Any) -> Kernel | None:
    """The kernel of a ufunc; None if the ufunc has no form in C."""
    templates.load()
    name = ufunc.__name__
    inputs, outputs = ufunc.nin, ufunc.nout
    names = ["x", "y"][:inputs]
    if f"{'f' * inputs}->{'f' * outputs}" not in ufunc.types:
        return None  # its result is of another type
    if outputs != 1 or inputs > 2 or ufunc.signature or getattr(np, name, None) is not ufunc:
        return None
    printer = Printer({"np": "np"}, lambda: "t1")
    try:
        text = printer.text(parse_tree(f"np.{name}({', '.join(names)})").body[0].value)
    except NotElementwiseError:
        return None
    lines = [*printer.lines, f"REAL result = {text};", "STORE(result);"]
    body = "\n".join(f"    {line}" for line in lines)
    function: Any = _one(ufunc) if len(names) == 1 else _two(ufunc)
    function.__name__ = f"{name}_kernel"
    function.__doc__ = inspect.cleandoc(f"Of each element:\n\n{body}")
    return Kernel(function)


def _one(ufunc: Any) -> object:
    def function(x: Any) -> Any:
        return ufunc(x)

    return function


def _two(ufunc: Any) -> object:
    def function(x: Any, y: object) -> Any:
        return ufunc(x, y)

    return function


def _summed(x: Any) -> object:
    """Of each element:

    REAL all = SUM(x);
    STORE(all);
    """
    return np.sum(x)


TOTAL = Kernel(_summed)


def apply_to_memory(
    kind: type[Array],
    function: Any,
    args: tuple[object, ...],
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
    plain = tuple(take_memory(value, kind, arrays) for value in args)
    words = {key: take_memory(value, kind, arrays) for key, value in kwargs.items()}
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
        return apply_to_memory(kind, function, args, kwargs, named=named)
    return _results_as_arrays(found, arrays, words.get("out"), named or function)


def take_memory(value: Any, kind: type[Array], arrays: list[Array]) -> Any:
    """A value with the memory of device arrays in their place; they are added to `arrays`."""
    if type(value) is kind:
        if value.is_number:
            value.store.read()
            arrays.append(value)
            return value.memory[()]
        arrays.append(value)
        return value.memory
    if type(value) is tuple or type(value) is list:
        return type(value)(take_memory(part, kind, arrays) for part in value)
    return value


def _results_as_arrays(found: object, arrays: list[Array], out: object, function: object) -> Any:
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
        return array.on_same_device(found) if held is None else type(array)(found, held)
    if isinstance(found, np.generic):
        return arrays[0].on_same_device(found)
    if isinstance(found, tuple | list):
        parts = [_results_as_arrays(part, arrays, out, function) for part in found]
        return type(found)(*parts) if hasattr(found, "_fields") else type(found)(parts)
    return found


def _are_held(found: object, arrays: list[Array]) -> bool:
    if isinstance(found, tuple | list):
        return all(_are_held(part, arrays) for part in found)
    return not isinstance(found, np.ndarray) or any(array.store.holds(found) for array in arrays)


def device_of(arrays: Sequence[DeviceArray]) -> None:
    """E5020 if arrays are on two devices."""
    for array in arrays[1:]:
        one, other = arrays[0].device, array.device
        if one is not other:
            what = f"an array is on device {one.number}, another one on device {other.number}"
            raise DifferentiationError("E5020", what, "move one of them: x.to_device(y.device)")


_BASIC = (int, slice, type(None), type(Ellipsis), np.integer)


def put(array: Array, index: object, value: object) -> None:
    """`array[index] = value`; a number gets memory of its own for that, since others may show the old one."""
    kind = type(array)
    if array.is_number:
        fresh = kind(*array.store.adopt(np.array(array.read())))
        put(fresh, index, value)
        fresh.read().setflags(write=False)
        array.memory, array.store = fresh.memory, fresh.store
        return
    if type(value) is kind and array.device.is_gpu and array.memory.flags.writeable and is_basic(index):
        part = array[index]
        if not part.is_number and fill_from_device(part, value):
            return
    apply_to_memory(kind, operator.setitem, (array, index, value), {}, writes=True)


def is_basic(index: object) -> bool:
    """Whether an index gives a view, or one element."""
    parts = index if type(index) is tuple else (index,)
    return all(isinstance(part, _BASIC) and type(part) is not bool for part in parts)


def fill_from_device(target: object, value: Array) -> bool:
    """Whether one array's elements could be copied into another one's memory without the host."""
    if type(target) is not type(value) or target.shape != value.shape or target.dtype != value.dtype:
        return False
    one, other = target.store, value.store
    if not target.size or not isinstance(one, OnDevice) or not isinstance(other, OnDevice) or one is other:
        return False
    if one.device is not other.device or not other.buffer_is_current:
        return False
    if not (target.flags.c_contiguous and value.flags.c_contiguous and target.flags.writeable):
        return False
    one.fill(target.memory, other, value.memory)
    return True


Operator = Callable[["Array", Any], Any]


def operators(ufunc: object) -> tuple[Operator, Operator, Operator]:
    """`x + y`, `y + x` and `x += y`; a number of NumPy's does not change in place."""

    def forward(self: Array, other: object) -> Any:
        return self.__array_ufunc__(ufunc, "__call__", self, other)

    def backward(self: Array, other: object) -> Any:
        return self.__array_ufunc__(ufunc, "__call__", other, self)

    def in_place(self: Array, other: object) -> Any:
        if self.is_number:
            return forward(self, other)
        return self.__array_ufunc__(ufunc, "__call__", self, other, out=(self,))

    return forward, backward, in_place


def comparison(ufunc: object) -> Operator:
    """`x < y`."""
    return lambda self, other: self.__array_ufunc__(ufunc, "__call__", self, other)


def unary_operation(ufunc: object) -> Callable[[Array], Any]:
    """`-x`."""
    return lambda self: self.__array_ufunc__(ufunc, "__call__", self)


class ResidentDevice:
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

    def finish(self, small: bool, arrays: list[object], buffers: list[object]) -> list[Any]:
        """The results as device arrays, which are waited for when the host reads them."""
        pairs = zip(arrays, buffers, strict=True)
        found = [type(self.first)(made, OnDevice(self.device, made, buffer)) for made, buffer in pairs]
        self.arrays.update((id(array.memory), array) for array in found)
        return found


def launch_resident(kernel: Kernel, args: tuple[Any, ...], first: Array) -> Any:
    """The results of a kernel for arguments among which are device arrays, of which `first` is one.

    NotImplemented where the C is not for these arguments.
    """
    device = first.device
    if not device.is_gpu:
        plain = tuple(value.memory if type(value) is type(first) else value for value in args)
        found = kernel.fitting(plain, device)
        return NotImplemented if found is None else _place_results(kernel.launched(found, plain, device), first)
    args = tuple(_regular(value) if type(value) is type(first) else value for value in args)
    arrays = {id(value.memory): value for value in args if type(value) is type(first) and value.ndim}
    plain = tuple(value.memory if type(value) is type(first) else value for value in args)
    found = kernel.fitting(plain, device)
    if found is None:
        return NotImplemented
    resident: Any = ResidentDevice(device, first, arrays)  # answers what launches ask of a Device
    with using(device):
        return _place_results(kernel.launched(found, plain, resident), first)


def _regular(array: Array) -> Array:
    """An array whose mirror a launch need not read: a number is up to date, odd strides are gone."""
    view = array.memory
    if not view.ndim:
        array.store.read()
        return array
    odd = not view.flags.aligned or any(s < 0 or s % view.itemsize for s in view.strides)
    return array.on_same_device(np.array(array.read(), order="C")) if odd else array


def _place_results(found: object, first: Array) -> Any:
    """Results that NumPy memory holds, on the device."""
    if isinstance(found, tuple):
        return tuple(_place_results(part, first) for part in found)
    return found if type(found) is type(first) else first.on_same_device(found)


_SIMPLE = (np.ndarray, np.generic, int, float, complex, list, tuple)
_FORMS = ("2021.12", "2022.12", "2023.12", "2024.12")


class Array(DeviceArray):
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

    def on_same_device(self, found: object) -> Any:
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
    real = property(lambda self: apply_to_memory(Array, np.real, (self,), {}))
    imag = property(lambda self: apply_to_memory(Array, np.imag, (self,), {}))
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

    def __array_ufunc__(self, ufunc: object, method: str, *inputs: object, **kwargs: Any) -> Any:
        outs = kwargs.get("out", ())
        if not all(isinstance(v, (Array, *_SIMPLE)) for v in (*inputs, *outs) if v is not None):
            return NotImplemented
        if self.device.is_gpu and method == "__call__" and kwargs.keys() <= {"out"}:
            found = _as_kernel(ufunc, inputs, self)
            if found is not NotImplemented and (not outs or fill_from_device(outs[0], found)):
                return outs[0] if outs else found
        return apply_to_memory(Array, getattr(ufunc, method), inputs, kwargs, writes=method == "at", named=ufunc)

    def __array_function__(
        self, function: object, types: object, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> Any:
        if function is np.sum and len(args) == 1 and not kwargs and self.device.is_gpu:
            return _total(self)
        if function not in KNOWN:
            raise TypeError(f"{full_name(function)} has no form for device arrays: give it np.asarray(x)")
        return apply_to_memory(Array, function, args, kwargs, looks=function in LOOKING, writes=function in WRITING)

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
        self, *, stream: object = None, max_version: object = None, dl_device: Any = None, copy: bool | None = None
    ) -> Any:
        wanted = {"stream": stream, "max_version": max_version, "dl_device": dl_device}
        if not self.device.is_gpu and not self.is_number:
            return self.memory.__dlpack__(**wanted, copy=copy)
        if copy is False or (dl_device or (1, 0)) != (1, 0):
            raise BufferError("this array is not in the host's memory: a copy can be had on the CPU, (1, 0)")
        return self.read().copy().__dlpack__(**wanted)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # host memory, or a copy there

    def to_device(self, device: object, /, *, stream: object = None) -> Array:
        """The array on a device, which is itself if it is there; see `srcgrad.opencl.asarray` for names of devices."""
        if stream is not None:
            raise ValueError("there are no streams to choose from")
        return sys.modules["srcgrad.opencl"].asarray(self, device=device)  # type: ignore[no-any-return]

    def srcgrad_launch(self, kernel: Any, args: tuple[object, ...]) -> Any:
        """What `launch` gives for a kernel with this array among its arguments."""
        device_of([value for value in args if type(value) is Array])
        found = launch_resident(kernel, args, self)
        return kernel.function(*args) if found is NotImplemented else found

    def __getitem__(self, index: Any) -> Any:
        if is_basic(index):
            found = self.memory[index]
            if isinstance(found, np.ndarray):
                return Array(found, self.store)
            return self.on_same_device(self.read()[index])
        return apply_to_memory(Array, operator.getitem, (self, index), {})

    def __setitem__(self, index: object, value: object) -> None:
        put(self, index, value)

    def __len__(self) -> int:
        return len(self.memory)

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise TypeError("an array without axes has no items")
        return (self[k] for k in range(len(self)))

    def __contains__(self, item: object) -> bool:
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

    def __deepcopy__(self, memo: object) -> Array:
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
    __eq__, __ne__ = comparison(np.equal), comparison(np.not_equal)
    __lt__ = comparison(np.less)
    __le__ = comparison(np.less_equal)
    __gt__ = comparison(np.greater)
    __ge__ = comparison(np.greater_equal)

    __neg__, __pos__ = unary_operation(np.negative), unary_operation(np.positive)
    __abs__, __invert__ = unary_operation(np.absolute), unary_operation(np.invert)


def _total(array: Array) -> Any:
    """The sum of all elements, added up where they are."""
    found = launch_resident(TOTAL, (array,), array)
    return apply_to_memory(Array, np.sum, (array,), {}) if found is NotImplemented else found


def _method(array: Array, name: str, *args: object, **kwargs: object) -> Any:
    if name == "sum" and not args and not kwargs and array.device.is_gpu:
        return _total(array)
    looks, writes = name in LOOKING_METHODS, name in WRITING_METHODS
    method = getattr(np.ndarray, name)
    return apply_to_memory(Array, _of_memory, (array, name, *args), kwargs, looks=looks, writes=writes, named=method)


def _of_memory(memory: object, name: str, *args: object, **kwargs: object) -> Any:
    """A method of an array, or of a number of NumPy's."""
    return getattr(memory, name)(*args, **kwargs)


def _as_kernel(ufunc: object, inputs: tuple[object, ...], first: Array) -> Any:
    """The result of an elementwise operation as a kernel on the device; NotImplemented where there is none."""
    kernel = kernel_for(ufunc)
    if kernel is None:
        return NotImplemented
    device_of([value for value in inputs if type(value) is Array])
    return launch_resident(kernel, inputs, first)
