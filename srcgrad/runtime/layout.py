"""Transposes of operations that join, repeat, pad and pick: what each part of a result came from."""

from __future__ import annotations

from typing import Any  # arrays and scalars of any floating type

import numpy as np

from srcgrad.runtime.broadcast import sum_to
from srcgrad.runtime.scatter import scatter


def converted(g: Any, source: Any, target: Any) -> Any:
    """A derivative `g` taken through a conversion of dtype: zeros where either side is an integer.

    The result has the shape, dtype and class of `target`, which may be a list of what makes up an array.

    >>> converted(np.ones(2), np.zeros(2), np.zeros(2, np.float32)).dtype, converted(1.0, 3, 0.5)
    (dtype('float32'), 0.0)
    """
    if np.asarray(source).dtype.kind not in "fc":
        g = 0.0
    if not isinstance(target, list | tuple) and np.asarray(target).dtype.kind not in "fc":
        return np.zeros(np.shape(target))
    return sum_to(g, target)


def sections(g: Any, arrays: Any, axis: int | None) -> list[int]:
    """The length along `axis` that each array takes up in the joined array `g`."""
    if axis is None:
        return [np.size(a) for a in arrays]
    return [np.shape(a)[axis] if np.ndim(a) == np.ndim(g) else 1 for a in arrays]


def split_like(g: Any, arrays: Any, axis: int | None = 0) -> list[Any]:
    """`g` cut along `axis` into parts of the shapes of `arrays`: the transpose of `np.concatenate`.

    An array of lower rank than `g` takes up one place, as in `np.vstack`; axis 1 of a vector is axis 0, as in
    `np.hstack`.

    >>> split_like(np.array([1.0, 2.0, 3.0]), (np.zeros(1), np.zeros(2)))
    [array([1.]), array([2., 3.])]
    """
    rows = _rows_like(g, arrays) if axis == 0 else None
    if rows is not None:
        return rows
    axis = None if axis is None else min(axis, np.ndim(g) - 1)
    ends = np.cumsum(sections(g, arrays, axis))[:-1]
    parts = np.split(g, ends, axis=0 if axis is None else axis)
    return [np.reshape(part, np.shape(a)) for part, a in zip(parts, arrays, strict=True)]


def _rows_like(g: Any, arrays: Any) -> list[Any] | None:
    """The parts of `g` along its first axis; None if some array has another rank than it."""
    parts, start, rank = [], 0, g.ndim
    for a in arrays:
        if (a.ndim if type(a) is np.ndarray else np.ndim(a)) != rank:
            return None
        stop = start + len(a)
        parts.append(g[start:stop])
        start = stop
    return parts


def join_like(parts: Any, g: Any, axis: int | None = 0) -> Any:
    """The inverse of `split_like(g, arrays, axis)`: the parts joined in the shape of `g`.

    >>> join_like([np.array([1.0]), np.array([2.0, 3.0])], np.zeros(3))
    array([1., 2., 3.])
    """
    if axis is None:
        return np.concatenate(parts, axis=None)
    axis = min(axis, np.ndim(g) - 1) % np.ndim(g)
    shape = np.shape(g)
    lengths = sections(g, parts, axis)
    shaped = [np.reshape(part, (*shape[:axis], n, *shape[axis + 1 :])) for part, n in zip(parts, lengths, strict=True)]
    return np.concatenate(shaped, axis=axis)


def mesh(parts: Any, indexing: str = "xy") -> list[Any]:
    """`np.meshgrid` of a sequence of vectors.

    >>> mesh([np.array([1.0, 2.0]), np.array([3.0])])
    [array([[1., 2.]]), array([[3., 3.]])]
    """
    return list(np.meshgrid(*parts, indexing=indexing))  # type: ignore[call-overload]  # "xy" or "ij"


def mesh_transpose(g: Any, parts: Any, indexing: str = "xy") -> list[Any]:
    """The transpose of `mesh(parts, indexing)`: each part of `g` summed over the axes that its vector lacks.

    >>> mesh_transpose([np.ones((1, 2)), np.ones((1, 2))], [np.zeros(2), np.zeros(1)])
    [array([1., 1.]), array([2.])]
    """
    own = list(range(len(parts)))
    if indexing == "xy":
        own[:2] = own[:2][::-1]
    return [
        np.reshape(np.sum(whole, axis=tuple(k for k in own if k != axis)), np.shape(part))
        for whole, part, axis in zip(g, parts, own, strict=True)
    ]


def repeat_transpose(g: Any, a: Any, repeats: Any, axis: int | None = None) -> Any:
    """The transpose of `np.repeat(a, repeats, axis)`.

    >>> repeat_transpose(np.array([1.0, 2.0, 3.0]), np.zeros(2), [1, 2])
    array([1., 5.])
    """
    if axis is None or np.ndim(a) == 0:
        return np.reshape(repeat_transpose(g, np.ravel(a), repeats, 0), np.shape(a))
    source = np.repeat(np.arange(np.shape(a)[axis]), repeats)
    return scatter(g, a, axis_index(source, a, axis))


def tile_transpose(g: Any, a: Any, reps: Any) -> Any:
    """The transpose of `np.tile(a, reps)`.

    >>> tile_transpose(np.array([1.0, 2.0, 3.0, 4.0]), np.zeros(2), 2)
    array([4., 6.])
    """
    counts = (reps,) if np.ndim(reps) == 0 else tuple(reps)
    rank = np.ndim(g)
    shape = (1,) * (rank - np.ndim(a)) + np.shape(a)
    counts = (1,) * (rank - len(counts)) + counts
    blocks = np.reshape(g, [size for pair in zip(counts, shape, strict=True) for size in pair])
    return np.reshape(np.sum(blocks, axis=tuple(range(0, 2 * rank, 2))), np.shape(a))


def unpad(g: Any, array: Any, pad_width: Any, mode: str = "constant") -> Any:
    """The transpose of `np.pad(array, pad_width, mode)`, for the modes that copy.

    Modes other than constant, edge, reflect, symmetric and wrap raise TypeError (E5006).

    >>> unpad(np.array([1.0, 2.0, 3.0, 4.0]), np.zeros(2), 1, "edge")
    array([3., 7.])
    """
    if mode not in ("constant", "edge", "reflect", "symmetric", "wrap"):
        raise TypeError(f"E5006 argument that the rule does not handle: np.pad with mode={mode!r}")
    shape = np.shape(array)
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(k, pad_width.get(k - len(shape), 0)) for k in range(len(shape))]
        pad_width = [(width, width) if np.ndim(width) == 0 else width for width in pad_width]
    widths = np.broadcast_to(pad_width, (len(shape), 2))
    if mode == "constant":
        return g[tuple(slice(before, before + n) for (before, _), n in zip(widths, shape, strict=True))]
    for axis, (width, n) in enumerate(zip(widths, shape, strict=True)):
        source = np.pad(np.arange(n), tuple(width), mode)  # type: ignore[call-overload]  # any of the five modes
        inner = np.zeros((*g.shape[:axis], n, *g.shape[axis + 1 :]), g.dtype)
        g = scatter(g, inner, axis_index(source, inner, axis))
    return g


def pad_constants(c: Any, array: Any, pad_width: Any) -> Any:
    """What `np.pad` puts around an array, and zeros in its place; zeros alone around integers, which cut it off.

    >>> pad_constants((0.5, 2.0), np.ones(1), 1)
    array([0.5, 0. , 2. ])
    """
    dtype = np.asarray(array).dtype
    if dtype.kind not in "fc":
        return np.zeros(np.pad(np.zeros(np.shape(array)), pad_width).shape)
    return np.pad(np.zeros(np.shape(array), dtype), pad_width, constant_values=c)


def pad_constants_transpose(g: Any, c: Any, array: Any, pad_width: Any) -> Any:
    """The transpose of `pad_constants(c, array, pad_width)`, of the shape of `c`.

    >>> pad_constants_transpose(np.array([1.0, 9.0, 2.0, 4.0]), 0.0, np.zeros(1), (1, 2))
    np.float64(7.0)
    """
    shape = np.shape(array)
    sums = np.zeros((len(shape), 2), g.dtype)
    if np.asarray(array).dtype.kind in "fc":
        if isinstance(pad_width, dict):
            pad_width = [pad_width.get(k, pad_width.get(k - len(shape), 0)) for k in range(len(shape))]
        for axis, (before, after) in reversed(list(enumerate(np.broadcast_to(pad_width, (len(shape), 2))))):
            lines = np.moveaxis(g, axis, 0)
            sums[axis] = np.sum(lines[:before]), np.sum(lines[before + shape[axis] : before + shape[axis] + after])
            g = np.moveaxis(lines[before : before + shape[axis]], 0, axis)
    return sum_to(sums, c)


def place_diagonal(g: Any, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Zeros of the shape of `a` with `g` on a diagonal: the transpose of `np.diagonal`.

    >>> place_diagonal(np.array([1.0, 2.0]), np.zeros((2, 2)))
    array([[1., 0.],
           [0., 2.]])
    """
    g = np.asarray(g)
    made = np.zeros(np.shape(a), g.dtype)
    moved = np.moveaxis(made, (axis1, axis2), (-2, -1))
    n = np.diagonal(moved, offset, -2, -1).shape[-1]
    rows, columns = np.arange(n) + max(-offset, 0), np.arange(n) + max(offset, 0)
    moved[..., rows, columns] = g
    return made


def diag_transpose(g: Any, v: Any, k: int = 0) -> Any:
    """The transpose of `np.diag(v, k)`, whether it builds a matrix or takes its diagonal.

    >>> diag_transpose(np.ones((2, 2)), np.zeros(2))
    array([1., 1.])
    """
    return np.diagonal(g, k) if np.ndim(v) == 1 else place_diagonal(g, v, k)


def axis_index(indices: Any, a: Any, axis: int | None) -> tuple[Any, ...]:
    """The index with which `a[index]` is `np.take(a, indices, axis)`.

    >>> axis_index(2, np.zeros((4, 5)), -1)
    (slice(None, None, None), 2)
    """
    if axis is None:
        return np.unravel_index(np.remainder(indices, np.size(a)), np.shape(a))
    return (slice(None),) * (axis % np.ndim(a)) + (indices,)


def along_axis(indices: Any, a: Any, axis: int | None = -1) -> tuple[Any, ...]:
    """The index with which `a[index]` is `np.take_along_axis(a, indices, axis)`.

    >>> a = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> a[along_axis(np.array([[1], [0]]), a, 1)]
    array([[2.],
           [3.]])
    """
    if axis is None:
        return axis_index(indices, a, None)
    mesh: list[Any] = list(np.ix_(*(range(n) for n in np.shape(a))))
    mesh[axis] = indices
    return tuple(mesh)
