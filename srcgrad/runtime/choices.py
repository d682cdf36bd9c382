"""Transposes of operations that choose among arrays or put them together as blocks."""

from __future__ import annotations

from typing import Any  # arrays and scalars of any floating type, lists of them nested as blocks are

import numpy as np

from srcgrad.runtime.broadcast import sum_to


def require_handled(handled: bool, what: str) -> None:
    """Raise TypeError (E5006) where an operation is called in a way that its rule does not handle."""
    if not handled:
        raise TypeError(f"E5006 argument that the rule does not handle: {what}")


def insertion(shape: tuple[int, ...], obj: Any, given: tuple[int, ...], axis: int | None) -> tuple[Any, Any, int]:
    """How `np.insert` reads values of a shape: with axes before, broadcast, and along which axis they are several.

    >>> insertion((2, 3), 1, (2, 3), 0), insertion((2, 3), [0, 2], (2, 1), 1)
    (((2, 3), (2, 3), 0), ((2, 1), (2, 2), 1))
    """
    along, whole = (0, (int(np.prod(shape)),)) if axis is None else (axis % len(shape), shape)
    small = (1,) * (len(whole) - len(given)) + given[max(len(given) - len(whole), 0) :]  # ones before are dropped
    places = len(np.insert(np.arange(whole[along]), obj, 0)) - whole[along]
    if places == 1 and np.ndim(obj) == 0 and not isinstance(obj, slice):
        return small, small[:1] + whole[:along] + whole[along + 1 :], 0
    count = small[along] if places == 1 else places
    return small, (*whole[:along], count, *whole[along + 1 :]), along


def flat_index(places: Any, a: Any) -> tuple[Any, ...]:
    """The index with which `a[index] = e` is `np.put(a, places, e)`; places count through all axes.

    >>> flat_index(-1, np.zeros((2, 3)))
    (np.int64(1), np.int64(2))
    """
    size = np.size(a)
    if np.any(np.asarray(places) >= size) or np.any(np.asarray(places) < -size):
        raise IndexError(f"a place is out of bounds for an array of {size} elements")
    return tuple(np.unravel_index(np.remainder(places, size), np.shape(a)))


def diagonal_index(a: Any) -> tuple[Any, ...]:
    """The index with which `a[index] = e` is `np.fill_diagonal(a, e)`.

    >>> diagonal_index(np.zeros((2, 3)))
    (array([0, 1]), array([0, 1]))
    """
    shape = np.shape(a)
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        raise ValueError("a diagonal is that of a matrix, or of an array whose axes are all of one length")
    return tuple(np.arange(min(shape)) for _ in shape)


def block_transpose(g: Any, arrays: Any) -> Any:
    """`g` cut into the blocks of which `np.block(arrays)` is made, nested as they are.

    >>> block_transpose(np.array([1.0, 2.0, 3.0]), [np.zeros(1), np.zeros(2)])
    [array([1.]), array([2., 3.])]
    """
    if not isinstance(arrays, list):
        return sum_to(np.reshape(g, np.shape(arrays)), arrays)
    depth, inner = -1, arrays[0]
    while isinstance(inner, list):
        depth, inner = depth - 1, inner[0]
    lengths = [_extent(part, depth) for part in arrays]
    parts = np.split(g, np.cumsum(lengths)[:-1], axis=depth)
    return [block_transpose(part, array) for part, array in zip(parts, arrays, strict=True)]


def _extent(array: Any, axis: int) -> int:
    """How long a block, or a nested list of blocks, is along an axis."""
    whole = np.block(array)
    return int(np.shape(whole)[axis]) if np.ndim(whole) >= -axis else 1


def broadcast_parts(parts: Any) -> list[Any]:
    """`np.broadcast_arrays` of a sequence.

    >>> broadcast_parts([np.ones(2), 3.0])
    [array([1., 1.]), array([3., 3.])]
    """
    return list(np.broadcast_arrays(*parts))


def choose_transpose(g: Any, a: Any, choices: Any, mode: str = "raise") -> list[Any]:
    """The transpose of `np.choose(a, choices, mode=mode)`: for each choice what was taken from it.

    >>> choose_transpose(np.array([1.0, 2.0]), [0, 1], [np.zeros(2), 0.0])
    [array([1., 0.]), np.float64(2.0)]
    """
    taken = np.choose(a, range(len(choices)), mode=mode)  # type: ignore[call-overload]
    return [_of_choice(np.where(taken == k, g, 0.0), choice) for k, choice in enumerate(choices)]


def _of_choice(g: Any, choice: Any) -> Any:
    """The adjoint of one of several choices: zeros for integers, through which no derivative flows."""
    whole = type(choice) is not int and np.asarray(choice).dtype.kind in "iub"
    return np.zeros(np.shape(choice)) if whole else sum_to(g, choice)


def unselected(g: Any, condlist: Any) -> Any:
    """`g` where none of the conditions holds, and 0 elsewhere.

    >>> unselected(np.array([1.0, 2.0]), [np.array([True, False])])
    array([0., 2.])
    """
    return np.select(condlist, [0.0] * len(condlist), g)


def select_transpose(g: Any, condlist: Any, choicelist: Any) -> list[Any]:
    """The transpose of `np.select(condlist, choicelist)`: for each choice what was selected from it.

    >>> select_transpose(np.array([1.0, 2.0]), [np.array([True, False]), True], [np.zeros(2), 0.0])
    [array([1., 0.]), np.float64(2.0)]
    """
    made, free = [], np.asarray(True)
    for condition, choice in zip(condlist, choicelist, strict=True):
        made.append(_of_choice(np.where(free & condition, g, 0.0), choice))
        free = free & np.logical_not(condition)
    return made
