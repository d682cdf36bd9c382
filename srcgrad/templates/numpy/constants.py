"""Operations whose result carries no derivative: tests, steps, positions, shapes, fresh arrays.

An operation stands here only if its derivative is zero with respect to every argument, wherever it exists.
"""

import builtins
import math
import operator

import numpy as np

from srcgrad.core.rules import constants
from srcgrad.runtime.reductions import count
from srcgrad.runtime.structure import unit

COMPARISONS = (
    np.equal,
    np.not_equal,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
    np.isin,
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.is_,
    operator.is_not,
    operator.contains,
    math.isclose,
)
LOGIC = (
    np.logical_and,
    np.logical_or,
    np.logical_not,
    np.logical_xor,
    np.bitwise_and,
    np.bitwise_or,
    np.bitwise_xor,
    np.invert,
    np.left_shift,
    np.right_shift,
    operator.and_,
    operator.or_,
    operator.xor,
    operator.not_,
    operator.invert,
    operator.truth,
    builtins.any,
    builtins.all,
)
GAPS = (
    np.isnan,
    np.isfinite,
    np.isinf,
    np.isposinf,
    np.isneginf,
)
CLASSES = (
    np.isnat,
    np.isreal,
    np.isrealobj,
    np.iscomplex,
    np.iscomplexobj,
    np.isscalar,
    np.iterable,
    np.signbit,
    isinstance,
    issubclass,
    callable,
    hasattr,
    type,
    id,
)
STEPS = (
    np.linalg.matrix_rank,
    np.floor_divide,
    operator.floordiv,
    math.trunc,
    builtins.round,
    int,
    bool,
    np.int8,
    np.int16,
    np.int32,
    np.int64,
    np.uint8,
    np.uint16,
    np.uint32,
    np.uint64,
    np.longlong,
    np.ulonglong,
    np.bool_,
    np.gcd,
    np.lcm,
    np.bitwise_count,
)
PLACES_OF_EXTREMES = (np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.count_nonzero)
ORDERS = (np.argsort, np.argpartition, np.argwhere, np.lexsort, np.flatnonzero)
INDICES = (
    np.nonzero,
    np.tril_indices,
    np.triu_indices,
    np.tril_indices_from,
    np.triu_indices_from,
    np.diag_indices,
    np.diag_indices_from,
    np.mask_indices,
)
POSITIONS = (
    np.searchsorted,
    np.digitize,
    np.ravel_multi_index,
)
OUTLINES = (np.shape, np.ndim, np.size, count)
SHAPES = (
    np.broadcast_shapes,
    np.result_type,
    np.promote_types,
    np.can_cast,
    np.issubdtype,
    np.dtype,
    np.finfo,
    np.iinfo,
    np.shares_memory,
    np.may_share_memory,
    np.common_type,
    np.min_scalar_type,
    np.mintypecode,
    np.typename,
    np.isdtype,
    np.isfortran,
    len,
    range,
    str,
    repr,
    format,
)
FILLED = (np.zeros, np.ones, np.empty)
LIKE = (np.zeros_like, np.ones_like, np.empty_like)
SQUARE = (np.eye, np.identity, np.tri)
FRESH = (
    unit,
    np.indices,
    np.bartlett,
    np.fft.fftfreq,
    np.fft.rfftfreq,
    np.blackman,
    np.hamming,
    np.hanning,
)
REPORTS = (
    np.array2string,
    np.array_repr,
    np.array_str,
    np.base_repr,
    np.binary_repr,
    np.format_float_positional,
    np.format_float_scientific,
    np.info,
    np.show_config,
    np.show_runtime,
    np.get_include,
    np.get_printoptions,
    np.set_printoptions,
    np.getbufsize,
    np.setbufsize,
    np.geterr,
    np.seterr,
    np.geterrcall,
    np.seterrcall,
)

constants([np.ix_], result="view")
constants([np.sign, np.floor, np.ceil], numba="same", shape="a")
constants([math.floor, math.ceil], numba="same")
constants(GAPS, asks=True, dtype="bool", gives="elements")
constants([math.isnan, math.isfinite, math.isinf], asks=True)
constants([np.isclose], dtype="bool", gives="elements")
constants([np.allclose, np.array_equal, np.array_equiv], dtype="bool", gives="number")
constants([np.any, np.all], dtype="bool", gives="reduced")
constants(PLACES_OF_EXTREMES, dtype="integer", gives="reduced")
constants(ORDERS, dtype="integer", gives="array")
constants(INDICES, dtype="integer", gives="arrays")
constants([np.unravel_index], dtype="integer", gives="tuple")
constants(POSITIONS, dtype="integer")
constants(OUTLINES, outline="a")
constants(FILLED, shape="filled", dtype="float")
constants(SQUARE, shape="square", dtype="float", gives="array")
constants([np.round, np.around, np.rint, np.trunc, np.fix], shape="a")
constants(LIKE, shape="a", outline="a")
for family in (COMPARISONS, LOGIC, CLASSES, STEPS, SHAPES, FRESH, REPORTS):
    constants(family)
