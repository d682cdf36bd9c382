"""What arrays are like: zeros, units, masks, blocks, casts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import is_dataclass
from typing import Any  # a value may be any nesting of containers

import numpy as np

from srcgrad.runtime.broadcast import mirrored
from srcgrad.runtime.checks import check_sequences


def zeros_like(x: Any) -> Any:
    """A zero that mirrors `x`: same shape and floating dtype, same nesting of containers, freshly made.

    Integers become floating zeros; what can hold no derivative (None, strings, other objects) becomes None.

    >>> import numpy as np
    >>> zeros_like({"a": 2, "b": (np.arange(2), None)})
    {'a': 0.0, 'b': (array([0., 0.]), None)}
    """
    if isinstance(x, np.ndarray):
        return np.zeros(x.shape, x.dtype if x.dtype.kind in "fc" else np.float64)
    if isinstance(x, np.inexact):
        return x.dtype.type(0)
    if isinstance(x, int | float | np.integer | np.bool_):
        return 0.0
    if isinstance(x, complex):
        return 0j
    return mapped(zeros_like, x)


def nan_like(x: Any) -> Any:
    """nan wherever `x` has a number, in the same nesting of containers: a tangent of which no part is known to be zero.

    >>> import numpy as np
    >>> nan_like({"a": 2, "b": np.arange(2)})
    {'a': nan, 'b': array([nan, nan])}
    """
    return mapped(nan_like, x) if isinstance(x, list | tuple | dict) or is_dataclass(x) else np.nan * x


def empty_like(x: Any) -> Any:
    """An array of the shape and floating dtype of `x`, to be filled; for integers a floating one.

    >>> import numpy as np
    >>> empty_like(np.arange(2)).dtype
    dtype('float64')
    """
    if not isinstance(x, np.ndarray):
        x = np.asarray(x)
    return np.empty_like(x, dtype=None if x.dtype.kind in "fc" else np.float64)


def unit(x: Any, i: int) -> Any:
    """The direction in which the i-th number of an array changes: 1.0 there, zeros elsewhere, in the shape of `x`.

    >>> unit(np.ones((2, 2)), 1)
    array([[0., 1.],
           [0., 0.]])
    """
    made = zeros_like(np.asarray(x))
    made.flat[i] = 1.0
    return made


def owned(x: Any, others: tuple[Any, ...]) -> Any:
    """A copy of an array, list or dict into which a function writes; `others` are the function's other arguments.

    Raises TypeError (E5010) where `x` is none of these, or where another argument shows the same elements: it would
    change with it.

    >>> x = np.zeros(2)
    >>> owned(x, (x[1:],))
    Traceback (most recent call last):
    ...
    TypeError: E5010 an argument that is written into shares elements with another one; pass a copy of one of the two
    """
    if isinstance(x, np.generic):
        return np.array(x)  # the tangent of an array without axes
    if not isinstance(x, np.ndarray) and type(x) not in (list, dict):
        raise TypeError(f"E5010 an argument of class {type(x).__name__} is written into; pass an array")
    arrays = isinstance(x, np.ndarray)
    if any(other is x or (arrays and _is_near(x, other)) for other in others):
        raise TypeError(
            "E5010 an argument that is written into shares elements with another one; pass a copy of one of the two"
        )
    return x.copy()


def fields_of(x: Any) -> dict[str, Any]:
    """The fields of a dataclass, or the items of a dict, as a dict of its own.

    >>> import dataclasses
    >>> fields_of(dataclasses.make_dataclass("Point", ["x", "y"])(1.0, 2.0))
    {'x': 1.0, 'y': 2.0}
    """
    if isinstance(x, dict):
        return dict(x)
    return {name: getattr(x, name) for name, field in x.__dataclass_fields__.items() if field.init}


def _is_near(x: object, other: object) -> bool:
    return isinstance(other, np.ndarray) and np.shares_memory(x, other)


def add(a: Any, b: Any) -> Any:
    """The sum of two values of one structure, made anew; None counts as zero, an array as the list of its rows.

    >>> add((1.0, [2.0, None]), (3.0, [4.0, None]))
    (4.0, [6.0, None])
    """
    if isinstance(b, list) and isinstance(a, np.ndarray | float):
        a, b = b, a
    if isinstance(a, list) and isinstance(b, np.ndarray | float):
        return [add(item, part) for item, part in zip(a, np.broadcast_to(b, (len(a), *np.shape(b)[1:])), strict=True)]
    if isinstance(a, np.ndarray | float):
        return a if b is None else a + b
    if a is None:
        return b
    if b is None or isinstance(a, str):
        return a
    if isinstance(a, list | tuple | dict) or hasattr(a, "__dataclass_fields__"):
        return mapped(add, a, b)
    return a + b


class Slots:
    """The cotangent of a value that holds others: of a partial application by position and name, of an object by name.

    What has none is zero. It adds up with another one, and with whatever stands for zero.

    >>> Slots({0: 1.0}) + Slots({0: 2.0, "k": 3.0})
    Slots({0: 3.0, 'k': 3.0})
    """

    __array_ufunc__ = None  # an array of NumPy leaves a sum to it

    def __init__(self, parts: Iterable[tuple[int | str, object]] | dict[int | str, object] = ()) -> None:
        self.parts: dict[int | str, object] = dict(parts)

    def __add__(self, other: object) -> Slots:
        parts = dict(self.parts)
        for slot, bar in _slots_of(other).items():
            parts[slot] = add(parts.get(slot), bar)
        return Slots(parts)

    __radd__ = __add__

    def __array__(self, *_: object, **__: object) -> object:
        raise TypeError("E5031 a function that is kept becomes part of an array; keep it in a list")

    def __repr__(self) -> str:
        return f"Slots({self.parts})"


def _slots_of(other: object) -> dict[int | str, object]:
    """What another cotangent of such a value has; a zero of any kind has nothing."""
    if isinstance(other, Slots):
        return other.parts
    if other is not None and not (isinstance(other, int | float | np.ndarray | np.generic) and not np.any(other)):
        raise TypeError(
            f"E5031 a cotangent of class {type(other).__name__} is added to that of a function or an object"
        )
    return {}


def of_slot(bar: object, slot: int | str, x: object) -> object:
    """The cotangent of what stands in a slot, which is `x`, from that of the value that holds it.

    >>> of_slot(Slots({0: 1.0}), 0, 5.0), of_slot(None, 0, 5.0)
    (1.0, 0.0)
    """
    found = _slots_of(bar).get(slot)
    return zeros_like(x) if found is None else found


def of_items(items: Any, x: Any) -> Any:
    """The items of `list(x)`, or of `a, b = x`, as x has them, an array's put together: the transpose of `list`.

    >>> of_items([1.0, 2.0], np.zeros(2)), of_items((1.0, 2.0), [0.0, 0.0])
    (array([1., 2.]), [1.0, 2.0])
    """
    if isinstance(x, np.ndarray):
        return np.reshape(np.array(items), np.shape(x))
    if isinstance(items, list | tuple):
        check_sequences(x)
    if not isinstance(items, list | tuple) or not isinstance(x, list | tuple):
        return items
    return mirrored(x, [of_items(item, part) for item, part in zip(items, x, strict=True)])


def conjugates(x: Any) -> Any:
    """The conjugates of the arrays in a list or a tuple; subscripts of an einsum, and None, stay.

    >>> conjugates(("i,i->i", 1j, None))
    ('i,i->i', np.complex128(-1j), None)
    """
    if isinstance(x, list | tuple):
        return mapped(conjugates, x)
    return x if x is None or x is Ellipsis or isinstance(x, str) else np.conj(x)


def mapped(function: Any, x: Any, *others: Any) -> Any:
    """`function` of each part of a list, tuple, NamedTuple, dict or dataclass; None for any other `x`."""
    if isinstance(x, list):
        return [function(*parts) for parts in zip(x, *others, strict=True)]
    if isinstance(x, tuple):
        parts = [function(*parts) for parts in zip(x, *others, strict=True)]
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    if isinstance(x, dict):
        return {key: function(x[key], *(other[key] for other in others)) for key in x}
    if hasattr(x, "__dataclass_fields__") and not isinstance(x, type):
        made = object.__new__(type(x))
        for name in x.__dataclass_fields__:
            part = function(getattr(x, name), *(getattr(other, name) for other in others))
            object.__setattr__(made, name, part)
        return made
    return None


def mask_to(mask: Any, x: Any) -> Any:
    """The mask of `x` from that of a result into which it was broadcast: true where any of its copies is reached.

    >>> mask_to(np.array([[True, False], [False, False]]), np.zeros((2, 1)))
    array([[ True],
           [False]])

    Of a list, item by item:

    >>> mask_to([True, np.array([False, True])], [np.ones(1), np.ones(2)])
    [array([ True]), array([False,  True])]
    """
    if isinstance(x, list | tuple):
        masks = mask if isinstance(mask, list | tuple) else [mask] * len(x)
        return [mask_to(one, item) for one, item in zip(masks, x, strict=True)]
    mask, shape = np.asarray(mask) != 0, np.shape(x)
    if mask.shape == shape:
        return mask
    lead = mask.ndim - len(shape)
    if lead > 0:
        mask = np.any(mask, axis=tuple(range(lead)))
    lead = max(-lead, 0)
    grown = tuple(k for k, size in enumerate(mask.shape) if size != 1 and shape[lead + k] == 1)
    return np.broadcast_to(np.any(mask, axis=grown, keepdims=True), shape)


def picks(weights: Any, values: Any) -> Any:
    """`weights * values`, and 0 where a weight is 0, whatever the value is there.

    >>> picks(np.array([0.0, 0.5]), np.array([np.inf, 2.0]))
    array([0., 1.])
    """
    taken = np.asarray(weights) != 0.0
    return weights * np.where(taken, values, 0.0)


def mask_at(x: Any, index: Any, mask: Any = True) -> Any:
    """The mask of `x` from that of `x[index]`: false at the elements that are not read.

    >>> mask_at(np.zeros(3), slice(1, None))
    array([False,  True,  True])
    """
    made = np.zeros(np.shape(x), dtype=bool)
    if mask is True:
        made[index] = True
    else:
        np.logical_or.at(made, index, np.asarray(mask) != 0)
    return made


def item_masks(x: Any, known: dict[Any, Any]) -> Any:
    """The masks of the items of `x`, a list or dict beside it: False for those of which none is known.

    >>> item_masks(["a", "b"], {1: True})
    [False, True]
    """
    made: Any = dict.fromkeys(x, False) if isinstance(x, dict) else [False] * len(x)
    for key, mask in known.items():
        made[key] = mask
    return made


def mask_without(mask: Any, x: Any, index: Any) -> Any:
    """The mask of `x` before `x[index]` was overwritten: false there.

    >>> mask_without(True, np.zeros(3), 1)
    array([ True, False,  True])
    """
    made = np.array(mask_to(mask, x))
    made[index] = False
    return made


def row_count(*arrays: Any, masks: Sequence[Any] = ()) -> int:
    """The number of rows that all arrays have; 1 if it is 0, so that a loop over blocks has one, which is empty.

    `masks` are those of which True takes rows: integers would take others than those of a block.

    >>> import numpy as np
    >>> row_count(np.ones((5, 2)), np.ones(5)), row_count(np.ones((0, 2)))
    (5, 1)
    """
    counts = [len(array) for array in arrays]
    if len(set(counts)) > 1:
        raise ValueError(f"the arrays have {', '.join(map(str, counts))} rows: blocks need as many of each")
    if any(mask.dtype != bool for mask in masks):
        raise TypeError("E5029 not a sum over rows: an index along them is an array of integers, not of booleans")
    return max(counts[0], 1)


def cast(x: Any, dtype: Any) -> Any:
    """`x.astype(dtype)`, for floating x and dtype.

    >>> import numpy as np
    >>> cast(np.ones(2), np.float32).dtype
    dtype('float32')
    """
    return x.astype(dtype)


def sorted_places(keys: list[float], reverse: bool = False) -> list[int]:
    """Where the items stand in a list, in the order of their keys; equal ones stay in their order.

    >>> sorted_places([0.7, 0.1, 0.7]), sorted_places([0.7, 0.1, 0.7], True)
    ([1, 0, 2], [0, 2, 1])
    """
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)
