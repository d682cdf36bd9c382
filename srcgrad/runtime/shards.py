"""Rows in blocks that are tasks of Dask: what a block gives, added up in a fixed order, or kept block by block."""

from __future__ import annotations

import operator
import sys
import sysconfig
import threading
import types
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import cloudpickle
import dask
import dask.array as da
import numpy as np
from dask.layers import ArraySliceDep

Value = Any  # arrays of NumPy and of Dask, and whatever a block gives
CHUNK_BYTES = 2**26  # of the widest NumPy array that is split; never from the number of workers, as bytes would differ
FAN = 8  # parts that one task adds up; a power of 2, so that the tree is that of pairs
_REGISTRY = threading.Lock()  # of the modules that cloudpickle sends along


def sharded(*arrays: Value, rows: int | None = None) -> list[Value]:
    """The arguments as dask arrays with the same chunks of rows, all columns in one chunk.

    Chunks are those of the widest dask array; NumPy arrays alone are cut into `rows` each, or by bytes.

    >>> import numpy as np
    >>> x, t = sharded(np.ones((5, 2)), np.ones(5), rows=2)
    >>> x.chunks, t.chunks
    (((2, 2, 1), (2,)), ((2, 2, 1),))
    """
    arrays = tuple(a if isinstance(a, da.Array) else np.asarray(a) for a in arrays)
    if not all(a.ndim for a in arrays):
        raise ValueError("E5029 not a sum over rows: a sharded argument is a number; leave it out of `shard`")
    if any(np.isnan(length) for a in arrays for length in a.shape):
        remedy = "call `x.compute_chunk_sizes()` first"
        raise ValueError(f"E5029 not a sum over rows: the lengths of the chunks of an argument are not known; {remedy}")
    counts = [len(a) for a in arrays]
    if len(set(counts)) > 1:
        raise ValueError(f"the arrays have {', '.join(map(str, counts))} rows: blocks need as many of each")
    widest = max(arrays, key=lambda a: (isinstance(a, da.Array), _row_bytes(a)))
    lengths = widest.chunks[0] if isinstance(widest, da.Array) else _lengths(counts[0], rows, _row_bytes(widest))
    return [_with_chunks(a, (lengths, *((length,) for length in a.shape[1:]))) for a in arrays]


def _row_bytes(array: Value) -> float:
    return float(array.dtype.itemsize * np.prod(array.shape[1:], initial=1.0))


def _lengths(count: int, rows: int | None, width: float) -> tuple[int, ...]:
    size = rows or max(1, int(CHUNK_BYTES // max(1.0, width)))
    return tuple(min(size, count - first) for first in range(0, count, size)) or (0,)


def _with_chunks(array: Value, chunks: tuple[tuple[int, ...], ...]) -> Value:
    if not isinstance(array, da.Array):
        return da.from_array(array, chunks=chunks, name=False)  # a name by contents would read all of it
    return array if array.chunks == chunks else array.rechunk(chunks)


def each_block(function: Callable[..., Value], *args: Value) -> list[Value]:
    """What `function` gives for each block of the arguments that are dask arrays, not computed yet.

    The other arguments are the same for all. A block without rows gives nothing, unless there is no other.
    """
    rank = max(a.ndim for a in args if isinstance(a, da.Array))
    parts = _blockwise(function, args, rank, dtype=object, meta=np.empty((0,) * rank, object)).to_delayed().ravel()
    lengths = next(a.chunks[0] for a in args if isinstance(a, da.Array))
    return [part for part, length in zip(parts, lengths, strict=True) if length] or [parts[0]]


def each_row(function: Callable[..., Value], like: Value, *args: Value) -> Value:
    """A dask array with the chunks of `like`: what `function` gives for each block, computed when it is asked for."""
    meta, chunks = np.empty((0,) * like.ndim, like.dtype), dict(enumerate(like.chunks))
    whole = partial(_like_rows, function, like.shape[1:], like.dtype)
    return _blockwise(whole, args, like.ndim, dtype=like.dtype, meta=meta, adjust_chunks=chunks, concatenate=True)


def _like_rows(function: Callable[..., Value], shape: tuple[int, ...], dtype: Value, *args: Value) -> Value:
    """The adjoint of a block, in its shape and dtype; of one without rows it is empty."""
    if not len(args[0]):  # the arguments with rows come first
        return np.empty((0, *shape), dtype)
    return np.asarray(function(*args), dtype)


def _blockwise(function: Callable[..., Value], args: Sequence[Value], rank: int, **words: Value) -> Value:
    """One task a block: as many axes as the widest argument has, so that reading a chunk is part of the task."""
    given = [one for a in args for one in (a, tuple(range(a.ndim)) if isinstance(a, da.Array) else None)]
    given += [ArraySliceDep(next(a for a in args if isinstance(a, da.Array)).chunks[:1]), (0,)]  # no tasks of its own
    name = getattr(function, "__name__", "") or getattr(getattr(function, "args", [None])[0], "__name__", "block")
    travelling = Travelling(partial(aligned, function))
    return da.blockwise(travelling, tuple(range(rank)), *given, token=name, align_arrays=False, **words)


def row_starts(array: Value) -> Value:
    """Of each block the number of its first row among all: a dask array with one element a block."""
    return da.from_array(np.cumsum((0, *array.chunks[0][:-1])), chunks=1, name=False)


def aligned(function: Callable[..., Value], *args: Value) -> Value:
    """`function` on arrays that lie as NumPy would have made them; an error tells the rows of the block, from the last.

    What comes from another worker may begin at any byte: NumPy then leaves BLAS, and the last bits would depend on who
    computed what.
    """
    *given, (rows,) = (np.require(a, requirements=["C", "A"]) if isinstance(a, np.ndarray) else a for a in args)
    try:
        return function(*given)
    except Exception as error:
        place = f"in the rows {rows.start} to {rows.stop - 1}, which are a block"
        vars(error)["__notes__"] = [*getattr(error, "__notes__", []), place]  # Python shows them from 3.11 on
        raise


def tree_sum(parts: Sequence[Value]) -> tuple[Value, ...]:
    """The sum of what blocks give, in an order that depends on their number alone: computed now, as NumPy.

    >>> import dask
    >>> tree_sum([dask.delayed((k, 1.0)) for k in range(5)])
    (10, 5.0)
    """
    return tree_reduce(parts, ())


def tree_reduce(parts: Sequence[Value], merges: Sequence[Callable[[Value, Value], Value]]) -> tuple[Value, ...]:
    """As `tree_sum`, where each of what blocks give has an operation of its own by which two are made one.

    >>> import dask
    >>> tree_reduce([dask.delayed((k, float(k))) for k in range(5)], (np.add, np.maximum))
    (np.int64(10), np.float64(4.0))
    """
    nodes, fold = list(parts), dask.delayed(Travelling(fold_pairs), pure=True)
    while len(nodes) > 1:
        nodes = [fold(nodes[k : k + FAN], tuple(map(Travelling, merges))) for k in range(0, len(nodes), FAN)]
    (total,) = dask.compute(nodes[0])
    return tuple(np.require(a, requirements="A") if isinstance(a, np.ndarray) else a for a in total)


def fold_pairs(parts: Sequence[tuple[Value, ...]], merges: Sequence[Callable[..., Value]] = ()) -> tuple[Value, ...]:
    """Neighbours in pairs, pairs of pairs, and so on; one left over goes up as it is.

    >>> fold_pairs([(1, 2.0), (3, 4.0), (5, 6.0)])
    (9, 12.0)
    """
    found = list(parts)
    while len(found) > 1:
        found = [_merged(*found[k : k + 2], merges=merges) for k in range(0, len(found), 2)]
    return found[0]


def _merged(one: tuple[Value, ...], two: tuple[Value, ...] | None = None, *, merges: Sequence[Value]) -> Value:
    """What two blocks give together: the sums, where nothing else is said."""
    if two is None:
        return one
    return tuple(m(a, b) for m, a, b in zip(merges or [operator.add] * len(one), one, two, strict=True))


class Travelling:
    """A function that goes to workers by value: of its text they need NumPy and Dask alone."""

    def __init__(self, function: Callable[..., Value]) -> None:
        self.function = function

    def __call__(self, *args: Value) -> Value:
        return self.function(*args)

    def __reduce__(self) -> tuple[Value, ...]:
        own = _own_modules(self.function)
        with _REGISTRY:
            mine = [m for m in own if m.__name__ not in cloudpickle.list_registry_pickle_by_value()]
            for module in mine:
                cloudpickle.register_pickle_by_value(module)
            try:
                return cloudpickle.loads, (cloudpickle.dumps(self.function),)
            finally:
                for module in mine:
                    cloudpickle.unregister_pickle_by_value(module)


def _own_modules(function: Value) -> list[types.ModuleType]:
    """The modules of functions that a function reaches, those apart that are installed."""
    found: dict[str, types.ModuleType] = {}
    todo, seen = [function], set[int]()
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        module = sys.modules.get(getattr(one, "__module__", None) or "")
        if module is not None and _is_own(module):
            found[module.__name__] = module
        todo += _reached(one)
    return [found[name] for name in sorted(found)]


def _is_own(module: types.ModuleType) -> bool:
    folders = [sysconfig.get_paths()[key] for key in ("stdlib", "purelib", "platlib")]
    file = getattr(module, "__file__", None)
    ours = module.__name__.partition(".")[0] == "srcgrad"
    return file is not None and module.__name__ != "__main__" and (ours or not file.startswith(tuple(folders)))


def _reached(one: Value) -> list[Value]:
    """Functions, classes and partial functions that a function holds or names."""
    if isinstance(one, partial):
        return [one.func, *one.args, *one.keywords.values()]
    if isinstance(one, types.MethodType):
        return [one.__func__, type(one.__self__)]
    if not isinstance(one, types.FunctionType):
        return []
    codes, names = [one.__code__], list[str]()
    while codes:
        code = codes.pop()
        names += code.co_names
        codes += [part for part in code.co_consts if isinstance(part, types.CodeType)]
    held = [one.__globals__[name] for name in names if name in one.__globals__]
    held += [cell.cell_contents for cell in one.__closure__ or ()] + list(one.__defaults__ or ())
    return [part if callable(part) else type(part) for part in held]
