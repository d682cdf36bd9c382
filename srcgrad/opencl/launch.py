"""Run a generated kernel: `launch(kernel, x, a)` gives what `kernel(x, a)` gives, from its C where that fits.

The C is built when a kernel is first launched, for the dtypes and layouts of the arguments, never for their shapes.
Where the arguments are not what the C is for (several float types, integers, containers, no elements), the Python
body runs instead, which is right for everything.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any  # arguments are arbitrary objects

import numpy as np

from srcgrad.opencl.batch import guessed, joined, seen, siblings
from srcgrad.opencl.device import Device, current
from srcgrad.opencl.faults import fault, no_double
from srcgrad.opencl.layout import Layout, flat, in_rows, is_flat, real_of, space_of
from srcgrad.opencl.memory import empty, spanned
from srcgrad.opencl.source import Output, Variant, identifier, outputs, program, tested, wholes
from srcgrad.runtime import sum_to

_SMALL = 16_384  # elements below which the device without threads is faster


def launch(function: Callable[..., Any], *args: Any) -> Any:
    """The results of a kernel, as NumPy gives them."""
    return of(function).run(args)


def of(function: Callable[..., Any]) -> Kernel:
    """The kernel of a function."""
    try:
        return function.srcgrad_kernel  # type: ignore[attr-defined, no-any-return]
    except AttributeError:
        kernel = function.srcgrad_kernel = Kernel(function)  # type: ignore[attr-defined]
        return kernel


class Built:
    """One variant on one device, ready to be called."""

    __slots__ = ("kernel", "lock", "totals")

    def __init__(self, kernel: Any, totals: tuple[bool, ...]) -> None:
        self.kernel = kernel
        self.totals = totals  # per result, whether it is a sum over all elements
        self.lock = threading.Lock()


class Kernel:
    """A function of the generated text with its C; variants are built as they are needed."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.text = function.__doc__ or ""
        code = function.__code__
        self.words = [identifier(argument) for argument in code.co_varnames[: code.co_argcount]]
        self.tests = [tested(self.text, word) for word in self.words]
        self.outputs = outputs(self.text)
        self.wholes = wholes(self.text)
        self.places = {word: k for k, word in enumerate(self.words)}
        self.built: dict[Any, Built] = {}
        self.guessed: set[Any] = set()  # real type, form and queue for which it has been built with others
        self.plans: dict[Any, Any] = {}  # for arguments of one shape in one piece: the real type and the variant

    def run(self, args: tuple[Any, ...]) -> Any:
        """The results for some arguments."""
        device = current()
        layout = self.known(args) or self.layout(args, device)
        if layout is None:
            return self.function(*args)
        if layout.variant.real == "double" and not device.has_fp64:
            raise no_double(self.function.__name__, device.device)
        try:
            return self.launched(layout, args, device)
        except device.cl.Error as error:
            device.abandon(lost=not isinstance(error, device.cl.MemoryError))
            nbytes = sum(a.nbytes for a in args if isinstance(a, np.ndarray))
            found = fault(error, self.function.__name__, nbytes, device.cl, device.device)
        raise found  # here, where nothing refers any more to the arrays of the launch

    def known(self, args: tuple[Any, ...]) -> Layout | None:
        """The layout of arguments like those of an earlier call: arrays of one shape in one piece, and floats."""
        shape: Any = None
        key: list[Any] = []
        for value in args:
            kind = type(value)
            if kind is np.ndarray:
                flags = value.flags
                if shape is None:
                    shape = value.shape
                if value.shape != shape or not flags.c_contiguous or not flags.aligned:
                    return None
                key.append(value.dtype)
            else:
                key.append(kind)
        variant = self.plans.get(tuple(key))
        if variant is None or not shape or 0 in shape:
            return None
        size = 1
        for extent in shape:
            size *= extent
        return Layout(shape, variant, args, _NO_STRIDES, (1, size))  # type: ignore[arg-type]

    def layout(self, args: tuple[Any, ...], device: Device) -> Layout | None:
        """How the arguments lie in memory; None if the Python is to run."""
        real = real_of(args, self.tests)
        space = None if real is None else space_of(args, self.outputs, self.wholes, self.places)
        if space is None:
            return None
        sums = tuple(self.is_total(o, args) for o in self.outputs if o.summed)
        if not is_flat(args, space):
            return in_rows(args, space, real, sums, device.is_gpu)
        made = flat(args, space, real, sums, device.is_gpu)
        if all(isinstance(v, float) or np.ndim(v) for v in args) and not any(o.like for o in self.outputs):
            self.plans[tuple(v.dtype if type(v) is np.ndarray else type(v) for v in args)] = made.variant
        return made

    def is_total(self, output: Output, args: tuple[Any, ...]) -> bool:
        """Whether a sum is over all elements, rather than to the shape of an array."""
        return not output.like or np.ndim(args[self.places[output.like]]) == 0

    def launched(self, layout: Layout, args: tuple[Any, ...], device: Device) -> Any:
        """Run the C."""
        variant = layout.variant
        real = _FLOAT if variant.real == "float" else _DOUBLE
        size = layout.extents[0] * layout.extents[1]
        small = device.small is not None and size < _SMALL
        built = self.built.get((variant, device.number, small)) or self.build(variant, device, small)
        groups = 1 if small else device.groups(size if variant.rank == 1 else layout.extents[0], size)
        passed: list[Any] = [*layout.extents]
        for position, kind in enumerate(variant.layouts):
            value = layout.arrays[position]
            if kind == "v":
                passed.append(value)
            else:
                passed.append(device.given(spanned(value) if kind[0] == "r" else value))
                if kind[0] == "r":
                    passed += layout.strides[position]
        results = [
            np.empty(groups, device.sums(variant.real)) if total else empty(layout.shape, real)
            for total in built.totals
        ]
        buffers = [device.taken(made) for made in results]
        passed += [b for b, total in zip(buffers, built.totals, strict=True) if not total]
        passed += [b for b, total in zip(buffers, built.totals, strict=True) if total]
        with built.lock:
            built.kernel.set_args(*passed)
            device.run(built.kernel, groups, small)
        device.finish(small, results, buffers)
        return self.finished(results, built.totals, real, args)

    def finished(self, results: list[Any], totals: tuple[bool, ...], real: Any, args: tuple[Any, ...]) -> Any:
        """Sums of partial sums, in the type and shape that NumPy would give."""
        done = []
        for made, output, total in zip(results, self.outputs, totals, strict=True):
            value = real.type(made[0] if len(made) == 1 else made.sum()) if total else made
            if output.like:
                value = sum_to(value, args[self.places[output.like]])
            done.append(value)
        return done[0] if len(done) == 1 else tuple(done)

    def build(self, variant: Variant, device: Device, small: bool) -> Built:
        """The kernel of one variant; with it, at first, those of the same text in the variants that are likely."""
        chosen: list[tuple[Kernel, Variant]] = [(self, variant)]
        first = (variant.real, variant.gpu, device.number, small)
        if first not in self.guessed:
            known = seen(self.words, variant)
            others = [of(function) for function in siblings(self.function)]
            chosen += [(k, guessed(k.words, k.outputs, variant, known)) for k in others if first not in k.guessed]
            for kernel, _ in chosen:
                kernel.guessed.add(first)
        texts = [program(k.function.__name__, k.text, k.words, v) for k, v in chosen]
        text = joined(texts, variant.real)
        try:
            for kernel, likely in chosen:
                made = kernel.prepared(device.build(text, kernel.function.__name__, small), likely)
                kernel.built.setdefault((likely, device.number, small), made)
        except device.cl.RuntimeError:
            if len(chosen) == 1:
                raise
            return self.build(variant, device, small)  # alone: the fault may be in another one
        return self.built[variant, device.number, small]

    def prepared(self, kernel: Any, variant: Variant) -> Built:
        """A kernel of one variant with the types of its numbers, and which of its results are sums."""
        sums = iter(variant.sums)
        totals = tuple(output.summed and next(sums) for output in self.outputs)
        numbers: list[Any] = [np.uint64] * (2 + max(0, variant.rank - 2))
        for kind in variant.layouts:
            numbers.append(np.dtype(f"f{4 if variant.real == 'float' else 8}") if kind == "v" else None)
            if kind[0] == "r":
                numbers += [np.int64] * (variant.rank - 1 + (kind[1] == "s"))
        kernel.set_scalar_arg_dtypes([*numbers, *[None] * len(self.outputs)])
        return Built(kernel, totals)


_FLOAT, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
_NO_STRIDES: list[tuple[int, ...]] = []
