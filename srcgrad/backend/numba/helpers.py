"""What the helpers of the runtime do in compiled code, where types decide what Python looks at when it runs.

Numba finds this by the entry point `numba_extensions`, so that it compiles a text that imports from `srcgrad.runtime`:
kinds, shapes, lengths, masks, reductions along axes, products of matrices. What it compiles and computes otherwise than
Python is refused, by the types it found.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any  # an overload takes types, and gives a function of values

import numpy as np
from numba import njit
from numba.core import ir, types
from numba.cpython.unsafe.tuple import tuple_setitem
from numba.extending import overload, overload_method

from srcgrad import runtime
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.source_text import users_place
from srcgrad.runtime.singular import length_dot, quotient, share, shared, signed

Compiled = Callable[..., Any]
Rule = Callable[..., Compiled | None]
REAL = (types.Float, types.Integer, types.Boolean)


def register() -> None:
    """What Numba calls; overloads are known as soon as this module is imported."""


def lowering(op: object) -> Callable[[Rule], Rule]:
    """Declare what an operation does in compiled code, by the types of its arguments; None where it is not compiled.

    Numba compares the signatures of the two functions, annotations included; so there are none.
    """

    def declare(rule: Rule) -> Rule:
        rule.__annotations__ = {}
        overload(op)(rule)
        return rule

    return declare


def is_floating(x: object) -> bool:
    """Whether a type is that of a floating number."""
    return isinstance(x, types.Float | types.Complex)


@lowering(runtime.sum_to)
def _sum_to(g: object, x: object, dtype: object = None) -> Compiled | None:
    if is_floating(x):
        real = isinstance(x, types.Float)
        if isinstance(g, types.Array):
            complex_ = isinstance(g.dtype, types.Complex)
            return (
                (lambda g, x, dtype=None: np.sum(g).real) if real and complex_ else (lambda g, x, dtype=None: np.sum(g))
            )
        return (
            (lambda g, x, dtype=None: g.real) if real and isinstance(g, types.Complex) else (lambda g, x, dtype=None: g)
        )
    if not isinstance(x, types.Array) or not is_floating(x.dtype):
        return None
    if not isinstance(g, types.Array):
        return lambda g, x, dtype=None: np.full(x.shape, g)
    if isinstance(g.dtype, types.Complex) and isinstance(x.dtype, types.Float):
        return None
    if g.ndim != x.ndim:
        return lambda g, x, dtype=None: onto(g, x)
    if g.dtype != x.dtype:
        return lambda g, x, dtype=None: g.astype(x.dtype) if g.shape == x.shape else onto(g, x)
    return lambda g, x, dtype=None: np.ascontiguousarray(g) if g.shape == x.shape else onto(g, x)


@njit  # type: ignore[untyped-decorator]
def onto(g: Any, x: Any) -> object:
    """`g` summed over the axes that `x` lacks, and over those that have length 1 in it."""
    made = np.zeros(x.shape, x.dtype)
    flat = made.reshape(made.size)
    lead = g.ndim - x.ndim
    for axis in range(x.ndim):
        known = 1 if lead + axis < 0 else g.shape[lead + axis]
        if x.shape[axis] != 1 and x.shape[axis] != known:
            raise ValueError("E5004 gradient of a rule has the wrong shape: no broadcasting gives it")
    for index, value in np.ndenumerate(g):
        place = 0
        for axis in range(x.ndim):
            along = index[lead + axis] if lead + axis >= 0 else 0
            place = place * x.shape[axis] + (0 if x.shape[axis] == 1 else along)
        flat[place] += value
    return made


@lowering(runtime.check_seed)
def _check_seed(y_bar: object, *parts: object) -> Compiled | None:
    if all(isinstance(y, REAL) for y in parts):
        return lambda y_bar, *parts: None
    kinds = [y.dtype if isinstance(y, types.Array) else y for y in parts]
    if not all(isinstance(kind, REAL) for kind in kinds):
        return None
    return lambda y_bar, *parts: refuse_seed()


@njit  # type: ignore[untyped-decorator]
def refuse_seed() -> None:
    """The output of a gradient is no number."""
    raise ValueError("E5007 the output is an array; use srcgrad.vjp with a seed of its shape")


@lowering(runtime.if_larger)
def _if_larger(seed: object, x: object, y: object) -> Compiled | None:
    if seed == types.float32 and isinstance(x, REAL) and isinstance(y, REAL):
        half, none = np.float32(0.5), np.float32(0.0)
        return lambda seed, x, y: seed if x > y else half * seed if x == y else none
    if isinstance(seed, REAL) and isinstance(x, REAL) and isinstance(y, REAL):
        return lambda seed, x, y: seed if x > y else 0.5 * seed if x == y else 0.0
    return lambda seed, x, y: np.where(x > y, seed, np.where(x == y, 0.5 * seed, 0.0))


@lowering(quotient)
def _quotient(x: object, y: object) -> Compiled | None:
    if isinstance(x, REAL) and isinstance(y, REAL):
        return lambda x, y: np.nan if np.isinf(y) and x != 0.0 else x / y
    return lambda x, y: np.where(np.isinf(y) & (x != 0.0), np.nan, x / y)


@lowering(runtime.zeros_like)
def _zeros_like(x: object) -> Compiled | None:
    if isinstance(x, REAL):
        return lambda x: 0.0
    if isinstance(x, types.Complex):
        return lambda x: 0j
    if not isinstance(x, types.Array):
        return None
    if is_floating(x.dtype):
        return lambda x: np.zeros(x.shape, x.dtype)
    return lambda x: np.zeros(x.shape, np.float64)


def _identity_lowering(x: object) -> Compiled:
    return lambda x: x


_identity_lowering.__annotations__ = {}
overload_method(types.Float, "copy")(_identity_lowering)  # as numbers of NumPy have it
overload_method(types.Complex, "copy")(_identity_lowering)


@lowering(runtime.add_at)
def _add_at(x_bar: object, index: object, g: object) -> Compiled | None:
    if not isinstance(x_bar, types.Array):
        return None
    whole = isinstance(index, types.Array) and isinstance(index.dtype, types.Integer) and index.ndim == 1
    if whole and isinstance(g, types.Array) and g.ndim == x_bar.ndim:
        return lambda x_bar, index, g: add_at_index(x_bar, index, g)
    parts = index.types if isinstance(index, types.BaseTuple) else (index,)
    last = parts[-1]
    if len(parts) == 2 and isinstance(parts[0], types.SliceType) and isinstance(last, types.Array):
        plain = isinstance(last.dtype, types.Integer) and last.ndim == 1
        alike = plain and isinstance(g, types.Array) and g.ndim == x_bar.ndim
        return (lambda x_bar, index, g: added_to_columns(x_bar[index[0]], index[1], g)) if alike else None
    if not all(isinstance(part, types.Integer | types.SliceType) for part in parts):
        return None
    return lambda x_bar, index, g: added_to_part(x_bar, index, g)


@njit(boundscheck=True)  # type: ignore[untyped-decorator]
def add_at_index(x_bar: Any, index: Any, g: Any) -> object:
    """Items of `g` added to those of `x_bar` that an array of integers names, some perhaps twice."""
    if g.shape[0] != index.size:
        raise ValueError("E5004 gradient of a rule has the wrong shape: one item for each index is due")
    for k in range(index.size):
        x_bar[index[k]] += g[k]
    return x_bar


@njit(boundscheck=True)  # type: ignore[untyped-decorator]
def added_to_columns(x_bar: Any, index: Any, g: Any) -> object:
    """Columns of `g` added to those of `x_bar` that an array of integers names, some perhaps twice."""
    if g.shape[0] != x_bar.shape[0] or g.shape[1] != index.size:
        raise ValueError("E5004 gradient of a rule has the wrong shape: one item for each index is due")
    for i in range(x_bar.shape[0]):
        for k in range(index.size):
            x_bar[i, index[k]] += g[i, k]
    return x_bar


@njit(boundscheck=True)  # type: ignore[untyped-decorator]
def added_to_part(x_bar: Any, index: object, g: Any) -> object:
    """`g` added to an element or a slice of `x_bar`."""
    x_bar[index] += g
    return x_bar


@lowering(runtime.check_number)
def _check_number(x: object, a: object = None) -> Compiled | None:
    return (lambda x, a=None: None) if isinstance(x, (*REAL, types.Complex)) else None


@lowering(runtime.check_item)
def _check_item(x: object, held: object = None) -> Compiled | None:
    safe = isinstance(x, (*REAL, types.Complex)) or isinstance(held, types.Array)
    return (lambda x, held=None: None) if safe else None


@lowering(runtime.check_method)
def _check_method(x: object) -> Compiled | None:
    return (lambda x: None) if isinstance(x, (*REAL, types.Complex, types.Array)) else None


@lowering(runtime.check_real)
def _check_real(x: object) -> Compiled | None:
    return None if isinstance(getattr(x, "dtype", x), types.Complex) else lambda x: None


@lowering(runtime.check_operand)
def _check_operand(x: object) -> Compiled | None:
    return None if isinstance(x, types.List | types.BaseTuple) else lambda x: None


@lowering(runtime.check_array)
def _check_array(x: object) -> Compiled | None:
    return (lambda x: None) if isinstance(x, types.Array) else None


@lowering(runtime.check_floating)
def _check_floating(a: object) -> Compiled | None:
    return (lambda a: None) if isinstance(a, types.Array) and is_floating(a.dtype) else None


@lowering(runtime.check_input)
def _check_input(x: object) -> Compiled | None:
    return (lambda x: None) if is_floating(getattr(x, "dtype", x)) else None


@lowering(runtime.stop_gradient)
def _stop_gradient(x: object) -> Compiled:
    return lambda x: x


@lowering(runtime.owned)
def _compile_owned(x: object, others: object) -> Compiled | None:
    return (lambda x, others: copy_unless_own(x, others)) if isinstance(x, types.Array) else None


@njit  # type: ignore[untyped-decorator]
def copy_unless_own(x: Any, others: object) -> object:
    """A copy of an array of which no other argument shows elements."""
    if is_near(x, others):
        raise TypeError(
            "E5010 an argument that is written into shares elements with another one; pass a copy of one of the two"
        )
    return x.copy()


def is_near(x: object, others: object) -> bool:
    """Whether one of the other arguments may show elements of an array: compiled code alone can tell."""
    raise NotImplementedError


@lowering(is_near)
def _is_near(x: object, others: Any) -> Compiled:
    if len(others) == 0:
        return lambda x, others: False
    if not isinstance(others[0], types.Array):
        return lambda x, others: is_near(x, others[1:])
    return lambda x, others: meet(x, others[0]) or is_near(x, others[1:])


@njit  # type: ignore[untyped-decorator]
def meet(x: object, other: object) -> bool:
    """Whether the memory of two arrays may overlap."""
    low, high = extent(x)
    first, last = extent(other)
    return bool(low < last and first < high)


@njit  # type: ignore[untyped-decorator]
def extent(x: Any) -> object:
    """Where the memory of an array begins and ends."""
    low = high = x.ctypes.data
    if x.size == 0:
        return low, high
    for length, stride in zip(x.shape, x.strides):  # noqa: B905 (compiled code has no strict)
        if stride < 0:
            low += (length - 1) * stride
        else:
            high += (length - 1) * stride
    return low, high + x.itemsize


@lowering(runtime.check_lengths)
def _check_lengths(*lengths: object) -> Compiled | None:
    return lambda *lengths: check_equal_lengths(lengths)


@njit  # type: ignore[untyped-decorator]
def check_equal_lengths(lengths: Any) -> None:
    """The lengths of axes over which one loop runs."""
    for one in lengths:
        if one != lengths[0]:
            raise ValueError(
                "E5026 loops need axes of equal lengths; call the derivative itself, which has a text for others"
            )


@lowering(runtime.check_filled)
def _check_filled(*lengths: object) -> Compiled | None:
    return lambda *lengths: check_nonempty(lengths)


@njit  # type: ignore[untyped-decorator]
def check_nonempty(lengths: Any) -> None:
    """The lengths of axes of which the largest element is wanted."""
    for one in lengths:
        if one == 0:
            raise ValueError(
                "E5026 loops need axes that are not empty; call the derivative itself, which has a text for them"
            )


@lowering(runtime.split_like)
def _split_like(g: object, arrays: Any, axis: object = 0) -> Compiled | None:
    ranks = [one.ndim if isinstance(one, types.Array) else 0 for one in arrays]
    place = getattr(axis, "literal_value", getattr(axis, "value", axis))  # a literal, or the default
    if not isinstance(g, types.Array) or set(ranks) != {g.ndim} or place not in range(-g.ndim, min(g.ndim, 2)):
        return None
    if place % g.ndim == 0:
        return lambda g, arrays, axis=0: rows(g, arrays, 0)
    return (lambda g, arrays, axis=0: columns(g, arrays, 0)) if place % g.ndim == 1 else None


def rows(g: object, arrays: object, start: int) -> Any:
    """Parts of `g` with as many rows as arrays have: a tuple, of compiled code alone."""
    raise NotImplementedError


@lowering(rows)
def _rows(g: object, arrays: Any, start: object) -> Compiled:
    if len(arrays) == 0:
        return lambda g, arrays, start: ()
    return lambda g, arrays, start: (
        g[start : start + arrays[0].shape[0]],
        *rows(g, arrays[1:], start + arrays[0].shape[0]),
    )


def columns(g: object, arrays: object, start: int) -> Any:
    """The same for columns."""
    raise NotImplementedError


@lowering(columns)
def _columns(g: object, arrays: Any, start: object) -> Compiled:
    if len(arrays) == 0:
        return lambda g, arrays, start: ()
    return lambda g, arrays, start: (
        g[:, start : start + arrays[0].shape[1]],
        *columns(g, arrays[1:], start + arrays[0].shape[1]),
    )


@lowering(length_dot)
def _length_dot(z: object, z_dot: object, away: object) -> Compiled | None:
    if isinstance(z, REAL) and isinstance(z_dot, REAL) and isinstance(away, REAL):
        return lambda z, z_dot, away: np.nan if z == 0.0 and away != 0.0 else z_dot
    return lambda z, z_dot, away: np.where((z == 0.0) & (away != 0.0), np.nan, z_dot)


@lowering(share)
def _share(q: object, x: object, r: object) -> Compiled | None:
    if isinstance(q, REAL) and isinstance(x, REAL) and isinstance(r, REAL):
        return lambda q, x, r: q * x
    return lambda q, x, r: np.where(np.isnan(r), np.nan, q * x)


@lowering(shared)
def _compile_shared(g: object, q: object, r: object) -> Compiled | None:
    if isinstance(g, REAL) and isinstance(q, REAL) and isinstance(r, REAL):
        return lambda g, q, r: np.nan if np.isinf(r) and g != 0.0 else g * q
    return lambda g, q, r: np.where(np.isinf(r) & (g != 0.0), np.nan, g * q)


@lowering(signed)
def _compile_signed(g: object, x: object) -> Compiled | None:
    return lambda g, x: g * np.sign(x)


add_at = runtime.add_at  # as compiled functions call it


@lowering(runtime.mask_to)
def _mask_to(mask: object, x: object) -> Compiled | None:
    if isinstance(x, REAL):
        return lambda mask, x: np.any(np.asarray(mask) != 0)
    if not isinstance(x, types.Array):
        return None
    if not isinstance(mask, types.Array):
        return lambda mask, x: np.full(x.shape, mask != 0)
    return lambda mask, x: (
        _any_copy_reached(mask, x) if mask.ndim >= x.ndim else np.broadcast_to(mask != 0, x.shape).copy()
    )


@njit  # type: ignore[untyped-decorator]
def _any_copy_reached(mask: Any, x: Any) -> object:
    """Where any of the copies of an element is reached."""
    return onto((mask != 0).astype(np.float64), np.empty(x.shape)) != 0.0


@lowering(runtime.mask_at)
def _mask_at(x: object, index: object, mask: object = True) -> Compiled | None:
    if not isinstance(x, types.Array):
        return None
    if not isinstance(mask, types.Array):
        return lambda x, index, mask=True: _set_item(np.zeros(x.shape, np.bool_), index, mask)
    return lambda x, index, mask=True: _add_mask(np.zeros(x.shape), index, mask) != 0.0


@njit  # type: ignore[untyped-decorator]
def _set_item(made: Any, index: object, value: Any) -> object:
    made[index] = value
    return made


@njit  # type: ignore[untyped-decorator]
def _add_mask(made: object, index: object, mask: Any) -> object:
    return add_at(made, index, (mask != 0).astype(np.float64))


@lowering(runtime.mask_without)
def _mask_without(mask: object, x: object, index: object) -> Compiled | None:
    if not isinstance(x, types.Array):
        return None
    if not isinstance(mask, types.Array):
        return lambda mask, x, index: _set_item(np.ones(x.shape, np.bool_), index, False)
    return lambda mask, x, index: _set_item(np.broadcast_to(mask != 0, x.shape).copy(), index, False)


@lowering(runtime.picks)
def _picks(weights: object, values: object) -> Compiled | None:
    if isinstance(weights, REAL) and isinstance(values, REAL):
        return lambda weights, values: weights * values if weights != 0.0 else 0.0
    return lambda weights, values: weights * np.where(weights != 0.0, values, 0.0)


def check_powers(compiled: Any, seen: set[object]) -> None:
    """Refuse an integer to the power of an integer, which is an integer to Numba, 2 ** -1 is 0; E5026.

    `seen` are the signatures that were found right; the new ones are added.
    """
    for signature, made in compiled.overloads.items():
        if signature in seen:
            continue
        known = made.type_annotation
        for node, called in known.calltypes.items():
            if _is_power(node) and _are_integers(called.args) and not _is_whole(known.typemap[node.rhs.name]):
                raise DifferentiationError(
                    "E5026",
                    "an integer to the power of an integer: compiled code gives an integer, 0 for 2 ** -1",
                    "make the base a float: `2.0 ** n`, `float(k) ** n`",
                    users_place(node.loc.filename, node.loc.line),
                )
        seen.add(signature)


def _is_power(node: object) -> bool:
    return (
        isinstance(node, ir.Expr) and node.op in ("binop", "inplace_binop") and node.fn in (operator.pow, operator.ipow)
    )


def _are_integers(given: tuple[object, ...]) -> bool:
    return all(isinstance(one, types.Integer | types.Boolean) for one in given)


def _is_whole(exponent: object) -> bool:
    return isinstance(exponent, types.IntegerLiteral) and exponent.literal_value >= 0


def _literal(given: object) -> Any:
    """The value of an argument that a text spells out, or of a default; None where only the call will tell."""
    return getattr(given, "literal_value", getattr(given, "value", given if isinstance(given, bool) else None))


def _is_none(axis: object) -> bool:
    return axis is None or isinstance(axis, types.NoneType) or (isinstance(axis, types.Omitted) and axis.value is None)


@njit  # type: ignore[untyped-decorator]
def in_three(a: Any, axis: int) -> object:
    """An array with three axes: those before one, that one, those behind it."""
    before = after = 1
    for k in range(axis % a.ndim):
        before *= a.shape[k]
    for k in range(axis % a.ndim + 1, a.ndim):
        after *= a.shape[k]
    return np.ascontiguousarray(a).reshape(before, a.shape[axis], after)


@njit  # type: ignore[untyped-decorator]
def with_one(shape: Any, axis: int) -> object:
    """A shape with the length 1 along an axis."""
    return tuple_setitem(shape, axis % len(shape), 1)


@njit  # type: ignore[untyped-decorator]
def shape_without_axis(shape: Any, axis: int) -> object:
    """A shape without an axis."""
    made = shape[:-1]
    for k in range(axis % len(shape), len(shape) - 1):
        made = tuple_setitem(made, k, shape[k + 1])
    return made


@njit  # type: ignore[untyped-decorator]
def max_along_middle(a: Any) -> object:
    """The largest elements along the middle of three axes; nan where there is one."""
    if a.shape[1] == 0:
        raise ValueError("zero-size array to reduction operation maximum which has no identity")
    made = a[:, 0].copy()
    for i in range(a.shape[0]):
        for k in range(1, a.shape[1]):
            for j in range(a.shape[2]):
                one = a[i, k, j]
                if one > made[i, j] or one != one:
                    made[i, j] = one
    return made


@njit  # type: ignore[untyped-decorator]
def min_along_middle(a: Any) -> object:
    """The least elements along the middle of three axes; nan where there is one."""
    if a.shape[1] == 0:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")
    made = a[:, 0].copy()
    for i in range(a.shape[0]):
        for k in range(1, a.shape[1]):
            for j in range(a.shape[2]):
                one = a[i, k, j]
                if one < made[i, j] or one != one:
                    made[i, j] = one
    return made


@njit  # type: ignore[untyped-decorator]
def added_up(a: Any) -> object:
    """Sums along the middle of three axes."""
    return np.sum(a, 1)


@njit  # type: ignore[untyped-decorator]
def mean_along_middle(a: Any) -> object:
    """Means along the middle of three axes."""
    return (np.sum(a, 1) / a.shape[1]).astype(a.dtype)


def in_line(x: object) -> object:
    """The elements of an array, or a number, as an array of one axis: compiled code alone knows which it is."""
    raise NotImplementedError


@lowering(in_line)
def _in_line(x: object) -> Compiled:
    if isinstance(x, types.Array):
        return lambda x: np.ascontiguousarray(x).reshape(x.size)
    return lambda x: np.full(1, x)


def _reduction(reduced: Compiled) -> Rule:
    """What a reduction is for arrays of real numbers, along one axis or over all elements."""

    def rule(a, axis=None, keepdims=False):  # type: ignore[no-untyped-def]
        keeps = _literal(keepdims)
        if not isinstance(a, types.Array) or not isinstance(a.dtype, types.Float) or keeps is None:
            return None
        ones = (1,) * a.ndim
        if _is_none(axis):
            if keeps:
                return lambda a, axis=None, keepdims=False: reduced(in_three(in_line(a), 0)).reshape(ones)
            return lambda a, axis=None, keepdims=False: reduced(in_three(in_line(a), 0))[0, 0]
        if not isinstance(axis, types.Integer):
            return None
        if keeps:
            return lambda a, axis=None, keepdims=False: reduced(in_three(a, axis)).reshape(with_one(a.shape, axis))
        if a.ndim == 1:
            return lambda a, axis=None, keepdims=False: reduced(in_three(a, axis))[0, 0]
        return lambda a, axis=None, keepdims=False: reduced(in_three(a, axis)).reshape(
            shape_without_axis(a.shape, axis)
        )

    return rule


REDUCTIONS = (
    (runtime.max_along, max_along_middle),
    (runtime.min_along, min_along_middle),
    (runtime.sum_along, added_up),
    (runtime.mean_along, mean_along_middle),
)
for _op, _reduced in REDUCTIONS:
    overload(_op, prefer_literal=True)(_reduction(_reduced))


@lowering(runtime.share)
def _axis_share(g: object, a: object, y: object, axis: object = None, keepdims: object = False) -> Compiled | None:
    """Arrays of a reduction have their elements in one order, with the axis that is gone or without it."""
    if not isinstance(a, types.Array) or not isinstance(a.dtype, types.Float):
        return None
    if _is_none(axis):
        return lambda g, a, y, axis=None, keepdims=False: share_along_middle(
            in_line(g), in_three(in_line(a), 0), in_line(y)
        ).reshape(a.shape)
    if not isinstance(axis, types.Integer):
        return None
    return lambda g, a, y, axis=None, keepdims=False: share_along_middle(
        in_line(g), in_three(a, axis), in_line(y)
    ).reshape(a.shape)


@njit(error_model="numpy")  # type: ignore[untyped-decorator]
def share_along_middle(g: Any, a: Any, y: Any) -> object:
    """`g`, one for each reduction along the middle of three axes, shared by the elements that are equal to `y`."""
    made = np.zeros_like(a)
    before, length, after = a.shape
    if g.size != before * after or y.size != before * after:
        raise ValueError("E5004 gradient of a rule has the wrong shape: no reduction gives it")
    for i in range(before):
        for j in range(after):
            found = 0
            for k in range(length):
                found += a[i, k, j] == y[i * after + j]
            part = g[i * after + j] / found
            for k in range(length):
                made[i, k, j] = part if a[i, k, j] == y[i * after + j] else 0.0 * part
    return made


@lowering(runtime.stored)
def _compile_stored(a_bar: object, index: object) -> Compiled | None:
    if not isinstance(a_bar, types.Array):
        return None
    parts = index.types if isinstance(index, types.BaseTuple) else (index,)
    if all(isinstance(part, types.Integer) for part in parts) and len(parts) == a_bar.ndim:
        return lambda a_bar, index: a_bar[index]
    if all(isinstance(part, types.Integer | types.SliceType) for part in parts):
        return lambda a_bar, index: a_bar[index].copy()
    whole = isinstance(index, types.Array) and isinstance(index.dtype, types.Integer) and index.ndim == 1
    return (lambda a_bar, index: last_stored(a_bar, index)) if whole else None


@njit(boundscheck=True)  # type: ignore[untyped-decorator]
def last_stored(a_bar: Any, index: Any) -> object:
    """Items of `a_bar` that an array of integers names; of one that it names more than once the last alone counts."""
    taken = a_bar[index]
    last = np.zeros(a_bar.shape[0], np.int64)
    for k in range(index.size):
        last[index[k]] = k
    for k in range(index.size):
        if last[index[k]] != k:
            taken[k] *= 0.0
    return taken


@lowering(runtime.columns)
def _runtime_columns(x: object, b: object) -> Compiled | None:
    if not isinstance(b, types.Array) or not isinstance(x, types.Array):
        return None
    if b.ndim == 1:
        return lambda x, b: np.ascontiguousarray(x).reshape(x.shape + (1,))  # noqa: RUF005 (as Numba takes it)
    return lambda x, b: x


def _ranks(*arrays: object) -> tuple[int, ...]:
    return tuple(a.ndim if isinstance(a, types.Array) else 0 for a in arrays)


def one_piece(a: object) -> Any:
    """An array as products of matrices take it, in one piece: compiled code alone knows whether it is."""
    raise NotImplementedError


@lowering(one_piece)
def _compile_one_piece(a: object) -> Compiled | None:
    if not isinstance(a, types.Array):
        return None
    return (lambda a: a) if a.layout in "CF" else lambda a: np.ascontiguousarray(a)


def matrix_rows(a: object) -> Any:
    """All rows of the matrices of an array, as one matrix: for compiled code alone."""
    raise NotImplementedError


@lowering(matrix_rows)
def _matrix_rows(a: object) -> Compiled | None:
    if not isinstance(a, types.Array):
        return None
    if a.layout == "C":
        return lambda a: a.reshape(a.shape[0] * a.shape[1], a.shape[2])
    return lambda a: np.ascontiguousarray(a).reshape(a.shape[0] * a.shape[1], a.shape[2])


@lowering(runtime.product)
def _product(a: object, b: object) -> Compiled | None:
    ranks = _ranks(a, b)
    if ranks in ((1, 1), (1, 2), (2, 1), (2, 2)):
        return lambda a, b: np.dot(one_piece(a), one_piece(b))
    if ranks == (3, 3):
        return lambda a, b: batched_product(a, b)
    if ranks == (3, 2):
        return lambda a, b: np.dot(matrix_rows(a), one_piece(b)).reshape(a.shape[0], a.shape[1], b.shape[1])
    return (lambda a, b: batched_product(a[None], b)) if ranks == (2, 3) else None


@njit  # type: ignore[untyped-decorator]
def batched_product(a: Any, b: Any) -> Any:
    """The products of the matrices of two arrays, one of which may have a single one."""
    count = count_of_matrices(a, b)
    made = np.empty((count, a.shape[1], b.shape[2]), a.dtype)
    for k in range(count):
        np.dot(one_piece(a[k if a.shape[0] != 1 else 0]), one_piece(b[k if b.shape[0] != 1 else 0]), made[k])
    return made


@njit  # type: ignore[untyped-decorator]
def count_of_matrices(a: Any, b: Any) -> int:
    """How many matrices two arrays have, when they meet."""
    if a.shape[0] != b.shape[0] and a.shape[0] != 1 and b.shape[0] != 1:
        raise ValueError("E5004 gradient of a rule has the wrong shape: matrices in other numbers")
    return int(b.shape[0] if a.shape[0] == 1 else a.shape[0])


@njit  # type: ignore[untyped-decorator]
def add_up(total: Any, part: Any) -> None:
    """A matrix added into another: `total += part` would compile the words of an error for seconds."""
    for i in range(total.shape[0]):
        for j in range(total.shape[1]):
            total[i, j] += part[i, j]


@njit  # type: ignore[untyped-decorator]
def left_of(g: Any, b: Any, count: int) -> Any:
    """The products of matrices with transposes, `g @ b.T`; their sum if one is wanted alone."""
    made = np.zeros((count, g.shape[1], b.shape[1]), g.dtype)
    every = count_of_matrices(g, b)
    for k in range(every):
        one, two = one_piece(g[k if g.shape[0] != 1 else 0]), one_piece(b[k if b.shape[0] != 1 else 0])
        if count == every:
            np.dot(one, two.T, made[k])
        else:
            add_up(made[0], np.dot(one, two.T))
    return made


@njit  # type: ignore[untyped-decorator]
def right_of(a: Any, g: Any, count: int) -> Any:
    """The products of transposes with matrices, `a.T @ g`; their sum if one is wanted alone."""
    made = np.zeros((count, a.shape[2], g.shape[2]), g.dtype)
    every = count_of_matrices(a, g)
    for k in range(every):
        one, two = one_piece(a[k if a.shape[0] != 1 else 0]), one_piece(g[k if g.shape[0] != 1 else 0])
        if count == every:
            np.dot(one.T, two, made[k])
        else:
            add_up(made[0], np.dot(one.T, two))
    return made


def _compile_product_left(g: object, a: object, b: object) -> Compiled | None:
    ranks = _ranks(g, a, b)
    if ranks == (0, 0, 0):
        return lambda g, a, b: g * b
    if ranks == (0, 1, 1):
        return lambda g, a, b: g * b
    if ranks == (1, 2, 1):
        return lambda g, a, b: np.outer(g, b)
    if ranks == (1, 1, 2):
        return lambda g, a, b: np.dot(one_piece(b), one_piece(g))
    if ranks == (2, 2, 2):
        return lambda g, a, b: np.dot(one_piece(g), one_piece(b).T)
    if ranks == (3, 3, 3):
        return lambda g, a, b: left_of(g, b, a.shape[0])
    if ranks == (3, 3, 2):
        return lambda g, a, b: np.dot(matrix_rows(g), one_piece(b).T).reshape(a.shape)
    return (lambda g, a, b: left_of(g, b, 1)[0]) if ranks == (3, 2, 3) else None


def _compile_product_right(g: object, a: object, b: object) -> Compiled | None:
    ranks = _ranks(g, a, b)
    if ranks == (0, 0, 0):
        return lambda g, a, b: g * a
    if ranks == (0, 1, 1):
        return lambda g, a, b: g * a
    if ranks == (1, 2, 1):
        return lambda g, a, b: np.dot(one_piece(a).T, one_piece(g))
    if ranks == (1, 1, 2):
        return lambda g, a, b: np.outer(a, g)
    if ranks == (2, 2, 2):
        return lambda g, a, b: np.dot(one_piece(a).T, one_piece(g))
    if ranks == (3, 3, 3):
        return lambda g, a, b: right_of(a, g, b.shape[0])
    if ranks == (3, 3, 2):
        return lambda g, a, b: np.dot(matrix_rows(a).T, matrix_rows(g))
    return (lambda g, a, b: right_of(a[None], g, b.shape[0])) if ranks == (3, 2, 3) else None


def _compile_product_both(g: object, a: object) -> Compiled | None:
    if _ranks(g, a) in ((0, 0), (0, 1)):
        return lambda g, a: 2.0 * g * a
    if _ranks(g, a) == (2, 2):
        return lambda g, a: np.dot(one_piece(g), one_piece(a).T) + np.dot(one_piece(a).T, one_piece(g))
    return None


lowering(runtime.matmul_both)(_compile_product_both)
lowering(runtime.dot_both)(_compile_product_both)
for _product_op in (runtime.matmul_left, runtime.dot_left):
    lowering(_product_op)(_compile_product_left)
for _product_op in (runtime.matmul_right, runtime.dot_right):
    lowering(_product_op)(_compile_product_right)


@lowering(runtime.count)
def _count(a: object, axis: object = None) -> Compiled | None:
    if not isinstance(a, types.Array):
        return lambda a, axis=None: 1
    if isinstance(axis, types.Integer):
        return lambda a, axis=None: max(a.shape[axis], 1)
    return (lambda a, axis=None: max(a.size, 1)) if axis is None or isinstance(axis, types.Omitted) else None


@lowering(runtime.spread)
def _compile_spread(g: object, a: object, axis: object = None, keepdims: object = False) -> Compiled | None:
    if axis is not None and not isinstance(axis, types.NoneType | types.Omitted):
        return _spread_along(g, a, axis, keepdims)
    if isinstance(a, types.Number):
        return (lambda g, a, axis=None, keepdims=False: g) if isinstance(g, types.Number) else None
    if not isinstance(a, types.Array):
        return None
    if isinstance(g, types.Number):
        return lambda g, a, axis=None, keepdims=False: np.full(a.shape, g)
    return lambda g, a, axis=None, keepdims=False: np.broadcast_to(g, a.shape).copy()


def _spread_along(g: object, a: object, axis: object, keepdims: object) -> Compiled | None:
    """What a sum along one axis gives each element: with the axis kept, or with it put in again."""
    if not (isinstance(g, types.Array) and isinstance(a, types.Array) and isinstance(axis, types.Integer)):
        return None
    if g.ndim == a.ndim:  # with `keepdims`
        return lambda g, a, axis=None, keepdims=False: np.broadcast_to(g, a.shape).copy()
    if g.ndim == a.ndim - 1:
        return lambda g, a, axis=None, keepdims=False: np.broadcast_to(np.expand_dims(g, axis), a.shape).copy()
    return None
