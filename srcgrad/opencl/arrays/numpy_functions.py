"""NumPy's functions of arrays on a device: which may look at them, and one operation as a kernel of its own."""

from __future__ import annotations

import functools
import inspect
from typing import Any  # NumPy's functions have no type in common

import numpy as np

import srcgrad.templates as templates
from srcgrad.core.trees import parse_tree
from srcgrad.opencl.kernels.print_c import NotElementwiseError, Printer
from srcgrad.opencl.launch import Kernel

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


def _total(x: Any) -> object:
    """Of each element:

    REAL all = SUM(x);
    STORE(all);
    """
    return np.sum(x)


TOTAL = Kernel(_total)
