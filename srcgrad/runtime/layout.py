"""How elements are arranged: views undone, choices by index, what is scattered, padded or joined; a leading axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any  # containers and indices of every kind

import numpy as np

from srcgrad.runtime.broadcast import sum_to
from srcgrad.runtime.structure import add, mapped, zeros_like

Function = Callable[..., object]


def add_at(x_bar: Any, index: Any, g: Any) -> Any:
    """Add `g` to `x_bar[index]` in place, repeated indices accumulating; return `x_bar`.

    `x_bar` is an array, list or dict with any index that reads from it, or from the array of a list; a tuple, which
    cannot change, is made anew and returned. Items of a list or dict are replaced, never changed in place.

    >>> import numpy as np
    >>> add_at(np.zeros(3), [0, 0, 2], np.array([1.0, 2.0, 3.0])), add_at([[0.0, 0.0]], (0, 1), 2.0)
    (array([3., 0., 3.]), [[np.float64(0.0), np.float64(2.0)]])
    """
    if type(x_bar) is np.ndarray:
        g = np.asarray(g) if isinstance(g, list | tuple) else g
        g = g if x_bar.dtype.kind == "c" else g.real
        if x_bar.dtype.kind in "iub":
            raise TypeError(f"E5002 integer or boolean input: a value of dtype {x_bar.dtype} has no gradient")
        if type(index) is int or type(index) is slice or not repeats(index):
            x_bar[index] += g
        else:
            np.add.at(x_bar, index, np.asarray(g, x_bar.dtype))
        return x_bar
    if isinstance(x_bar, list | tuple) and isinstance(index, list | tuple | np.ndarray):
        made = sum_to(add_at(np.array(x_bar), index, g), x_bar)  # NumPy has made an array of what it read
        if isinstance(x_bar, tuple):
            return made
        x_bar[:] = made
        return x_bar
    if isinstance(x_bar, tuple):
        parts = add_at(list(x_bar), index, g)
        return type(x_bar)(*parts) if hasattr(x_bar, "_fields") else tuple(parts)
    if isinstance(index, slice):
        g = list(g)
    if isinstance(x_bar, list | dict):
        x_bar[index] = add(x_bar[index], g)
        return x_bar
    return x_bar + g  # a scalar, read with () or ...


def stored(a_bar: Any, index: Any) -> Any:
    """The adjoint of `e` in `a[index] = e`: the elements of `a_bar` there, as an array of its own.

    Of an element that `index` names more than once only the last stored value counts.

    >>> stored(np.array([1.0, 2.0, 3.0]), np.array([0, 0, 2]))
    array([0., 1., 3.])
    """
    taken = np.array(a_bar[index])
    if repeats(index):
        places = np.arange(taken.size).reshape(taken.shape)
        last = np.zeros(a_bar.shape, places.dtype)
        last[index] = places
        taken *= last[index] == places
    return taken


def repeats(index: Any) -> bool:
    """Whether an index of an array may name an element more than once: it holds an array of integers."""
    if isinstance(index, tuple):
        return any(repeats(part) for part in index)
    if isinstance(index, list):
        index = np.asarray(index)
    return isinstance(index, np.ndarray) and index.ndim > 0 and index.dtype.kind != "b"


def scatter(g: Any, x: Any, index: Any) -> Any:
    """Zeros mirroring `x`, with `g` added at `index`: the transpose of `x[index]`.

    >>> import numpy as np
    >>> scatter(5.0, np.ones(3), 1)
    array([0., 5., 0.])
    """
    if isinstance(x, np.ndarray) and x.dtype == np.float16:
        return add_at(np.zeros(x.shape, np.float32), index, g).astype(x.dtype)  # ones of float16 add up to 2048
    return add_at(zeros_like(x), index, g)


def entry(g: Any, x: Any, key: Any) -> Any:
    """Zeros mirroring the dict `x`, with `g` at a key that it has: the transpose of `x.get(key)`.

    A key that a loop has added holds None where the loop is gone back behind that.

    >>> entry(5.0, {"a": 1.0, "b": 2.0}, "b"), entry(5.0, {"a": 1.0}, "b")
    ({'a': 0.0, 'b': 5.0}, {'a': 0.0})
    """
    made = zeros_like(x)
    if x.get(key) is not None and g is not None:
        made[key] = add(made[key], g)
    return made


def otherwise(g: Any, x: Any, key: Any) -> Any:
    """`g` if the dict `x` has no such key, else zeros: what the default of `x.get(key, default)` gets.

    >>> otherwise(5.0, {"a": 1.0}, "b"), otherwise(5.0, {"a": 1.0}, "a")
    (5.0, 0.0)
    """
    return g if x.get(key) is None else zeros_like(g)


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


def require_handled(handled: bool, what: str) -> None:
    """Raise TypeError (E5006) where an operation is called in a way that its rule does not handle."""
    if not handled:
        raise TypeError(f"E5006 argument that the rule does not handle: {what}")


def at_elements(
    pyfunc: Function, a: object, otypes: Sequence[str] | None = None, *more: object, **words: object
) -> object:
    """What `np.vectorize(pyfunc, otypes)` gives.

    >>> at_elements(lambda s: 2.0 * s, [1.0, 2.0])
    array([2., 4.])
    """
    return np.vectorize(pyfunc, otypes)(a)


def at_pairs(
    pyfunc: Function, a: object, b: object, otypes: Sequence[str] | None = None, *more: object, **words: object
) -> object:
    """What `np.vectorize(pyfunc, otypes)` gives of two arguments.

    >>> at_pairs(lambda s, t: s * t, [1.0, 2.0], 2.0)
    array([2., 4.])
    """
    return np.vectorize(pyfunc, otypes)(a, b)


def at_triples(
    pyfunc: Function,
    a: object,
    b: object,
    c: object,
    otypes: Sequence[str] | None = None,
    *more: object,
    **words: object,
) -> object:
    """What `np.vectorize(pyfunc, otypes)` gives of three arguments.

    >>> at_triples(lambda s, t, u: s * t - u, [1.0, 2.0], 2.0, 1.0)
    array([1., 3.])
    """
    return np.vectorize(pyfunc, otypes)(a, b, c)


def keeps_values(values: Sequence[float]) -> bool:
    """Whether `np.vectorize` gives these numbers as they are, though all get the dtype of the first.

    >>> keeps_values([1.0, 2]), keeps_values([1, 2.0]), keeps_values([True, False])
    (True, False, True)
    """
    kinds = [np.asarray(value).dtype.kind for value in values]
    require_handled(np.ndim(values[0]) == 0, "np.vectorize of a function with several results")
    return kinds[0] in "fc" or len(set(kinds)) == 1


def makes_floats(otypes: Sequence[str] | None) -> bool:
    """Whether `np.vectorize` with these types of results gives one array of floats, or of complex numbers.

    >>> makes_floats([float]), makes_floats("d"), makes_floats([int]), makes_floats(None)
    (True, True, False, True)
    """
    return otypes is None or (len(otypes) == 1 and np.dtype(otypes[0]).kind in "fc")


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


def pad_widths(given: Any, rank: int) -> list[tuple[Any, Any]]:
    """For each axis the two whole numbers that `pad_width` or `stat_length` gives it; None where nothing is given.

    >>> pad_widths(1, 2), pad_widths((1, 2), 2), pad_widths({0: 3}, 2), pad_widths(None, 1)
    ([(1, 1), (1, 1)], [(1, 2), (1, 2)], [(3, 3), (0, 0)], [(None, None)])
    """
    if given is None:
        return [(None, None)] * rank
    if isinstance(given, dict):
        every = [(0, 0)] * rank
        for axis, pair in given.items():
            every[axis] = tuple(np.broadcast_to(pair, 2).tolist())
        return every
    return [tuple(pair) for pair in np.broadcast_to(given, (rank, 2)).tolist()]


def sides(lengths: tuple[Any, Any], n: int) -> tuple[int, int]:
    """How many of n elements the statistics of both sides are of.

    >>> sides((None, 2), 5), sides((9, 1), 5)
    ((5, 2), (5, 1))
    """
    return min(lengths[0] or n, n), min(lengths[1] or n, n)


def each(count: int, x: Any) -> Any:
    """`x` so many times along a new leading axis, in memory of its own; of a container each part.

    >>> each(2, (1.0, None))
    (array([1., 1.]), None)
    """
    if isinstance(x, np.ndarray | np.generic | int | float | complex):
        return np.array(np.broadcast_to(x, (count, *np.shape(x))))
    return mapped(lambda part: each(count, part), x)


def zeros_each(count: int, x: Any) -> Any:
    """Zeros like `x` so many times along a new leading axis; of a container each part.

    >>> zeros_each(2, 3.0)
    array([0., 0.])
    """
    if isinstance(x, np.ndarray):
        return np.zeros((count, *x.shape), x.dtype if x.dtype.kind in "fc" else np.float64)
    return each(count, zeros_like(x))


def by_rows(function: Any, *args: Any, **tangent: Any) -> tuple[Any, Any]:
    """The value and all tangents of a function of which each row depends on the same row of x, given `x_dot=`.

    If x has much fewer columns than there are directions, the function runs with one tangent for each column; these
    are the derivatives by the columns, and the tangents are their products with the rows of x_dot.

    >>> square = lambda x, x_dot: (x * x, 2.0 * x * x_dot)
    >>> by_rows(square, np.array([3.0, 5.0]), x_dot=np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 2.0]]))[1]
    array([[ 6.,  0.],
           [ 0., 10.],
           [ 6., 20.]])
    """
    ((keyword, x_dot),) = tangent.items()
    count, rows, *rest = x_dot.shape
    columns = math.prod(rest)
    if not rows or not columns or count <= 2 * columns:
        found: tuple[Any, Any] = function(*args, **tangent)
        return found
    units = np.eye(columns, dtype=x_dot.dtype).reshape(columns, 1, *rest)
    y, by_column = function(*args, **{keyword: np.repeat(units, rows, axis=1)})
    blocks = by_column.reshape(columns, rows, -1).transpose(1, 0, 2)
    y_dot = x_dot.reshape(count, rows, columns).transpose(1, 0, 2) @ blocks
    return y, y_dot.transpose(1, 0, 2).reshape(count, *by_column.shape[1:])


def split_each_like(g: Any, arrays: Any, axis: int | None = 0) -> list[Any]:
    """`split_like(g, arrays, axis)` for each entry of the leading axis of `g`, which stays.

    >>> [part.shape for part in split_each_like(np.ones((2, 5)), (np.zeros(3), np.zeros(2)))]
    [(2, 3), (2, 2)]
    """
    ndim = g.ndim - 1
    axis = None if axis is None else min(axis, ndim - 1) % ndim
    ends = np.cumsum(sections(np.empty(g.shape[1:]), arrays, axis))[:-1]
    parts = np.split(g, ends, axis=1 if axis is None else axis + 1)
    return [np.reshape(part, (len(g), *np.shape(a))) for part, a in zip(parts, arrays, strict=True)]


def sum_each_to(g: Any, x: Any, dtype: Any = None) -> Any:
    """`sum_to(g, x)` for each entry of the leading axis of `g`, which stays.

    >>> import numpy as np
    >>> sum_each_to(np.ones((2, 3, 4)), np.zeros((3, 1)))[1]
    array([[4.],
           [4.],
           [4.]])
    """
    due = np.asarray(0.0 if type(x) is int else x)
    if due.dtype.kind not in "fc":
        raise TypeError(f"E5002 integer or boolean input: a value of dtype {due.dtype} has no gradient")
    shape, wanted = g.shape[1:], due.shape
    if not shape:  # a number for each
        return np.array(np.broadcast_to(g.reshape(-1, *(1,) * due.ndim), (len(g), *wanted)), dtype or due.dtype)
    if len(shape) < len(wanted):
        g = g.reshape(g.shape[0], *(1,) * (len(wanted) - len(shape)), *shape)
        shape = g.shape[1:]
    lead = len(shape) - len(wanted)
    axes = (*range(1, lead + 1), *(lead + k + 1 for k, n in enumerate(wanted) if n == 1 and shape[lead + k] != 1))
    if axes:
        kind = np.float32 if g.dtype.char == "e" else g.dtype
        g = np.add.reduce(g, axis=axes, dtype=kind, keepdims=True)
        g = g.reshape(g.shape[0], *g.shape[lead + 1 :])
    if g.shape[1:] != wanted:
        raise ValueError(f"E5004 gradient of a rule has the wrong shape: {shape} where {wanted} is due")
    if due.dtype.kind == "f":
        g = g.real
    return g.astype(due.dtype if dtype is None else dtype, copy=False)


def max_along(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.max(a, axis, keepdims=keepdims)`.

    >>> max_along(np.array([[1.0, 4.0], [3.0, 2.0]]), 0)
    array([3., 4.])
    """
    return np.max(a, axis=axis, keepdims=keepdims)


def min_along(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.min(a, axis, keepdims=keepdims)`.

    >>> min_along(np.array([[1.0, 4.0], [3.0, 2.0]]), 1, True)
    array([[1.],
           [2.]])
    """
    return np.min(a, axis=axis, keepdims=keepdims)


def sum_along(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.sum(a, axis, keepdims=keepdims)`.

    >>> sum_along(np.array([[1.0, 4.0], [3.0, 2.0]]), 1, True)
    array([[5.],
           [5.]])
    """
    return np.sum(a, axis=axis, keepdims=keepdims)


def mean_along(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.mean(a, axis, keepdims=keepdims)`.

    >>> mean_along(np.array([[1.0, 4.0], [3.0, 2.0]]), 0)
    array([2., 3.])
    """
    return np.mean(a, axis=axis, keepdims=keepdims)
