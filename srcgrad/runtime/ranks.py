"""Rows on the ranks of MPI: what the rows of each give, added up in the order of the ranks, the same on all."""

from __future__ import annotations

import hashlib
import math
import operator
import pickle
from collections.abc import Callable, Sequence

import numpy as np

from srcgrad.runtime.pieces import Array as Value  # and whatever a block gives


def all_ranks() -> Value:
    """The communicator of all ranks."""
    try:
        from mpi4py import MPI
    except ModuleNotFoundError:
        what = "E5019 no such target: the target mpi needs mpi4py, which is not installed"
        raise ModuleNotFoundError(f"{what}; pip install 'srcgrad[mpi]'") from None
    return MPI.COMM_WORLD


class Rows:
    """The rows of this rank, `own`; shape and length are those of all ranks, and `first` is the number of its first."""

    def __init__(self, own: Value, first: int, count: int) -> None:
        self.own, self.first, self.dtype, self.ndim = own, first, own.dtype, own.ndim
        self.shape = (count, *own.shape[1:])
        self.size = math.prod(self.shape)

    def __len__(self) -> int:
        return int(self.shape[0])


def sharded(*arrays: Value, same: Sequence[Value] = ()) -> list[Rows]:
    """The arguments as rows among those of all ranks, of which each may have any number, none as well.

    `same` are the other arguments. They must be equal on all ranks: what is computed of them is counted once.
    """
    arrays = tuple(map(np.asarray, arrays))
    own = [a.shape[:1] for a in arrays], [(a.shape[1:], a.dtype.str) for a in arrays], digest(same)
    (found,) = allreduce((b"", ([own],)))
    for rank, (counts, like, known) in enumerate(found):
        wrong = ""
        if not all(counts):
            wrong = "a sharded argument is a number; leave it out of `shard`"
        elif len(set(counts)) > 1:
            wrong = f"the arrays have {', '.join(str(n) for (n,) in counts)} rows: blocks need as many of each"
        elif like != found[0][1]:
            wrong = f"its rows have shapes and dtypes {like}, those of rank 0 {found[0][1]}"
        elif known != found[0][2]:
            wrong = (
                "an argument that is not spread is another than on rank 0; give all ranks one, as `comm.bcast(w)` does"
            )
        if wrong:
            raise ValueError(f"E5029 not a sum over rows: on rank {rank}, {wrong}")
    lengths = [counts[0][0] for counts, _, _ in found]
    first = sum(lengths[: all_ranks().Get_rank()])
    return [Rows(a, first, sum(lengths)) for a in arrays]


def digest(value: Value) -> bytes:
    """What tells numbers, arrays, and containers of them from others of the same structure."""
    made = hashlib.blake2b(digest_size=16)
    if isinstance(value, list | tuple | dict):
        for part in value.values() if isinstance(value, dict) else value:
            made.update(digest(part))
    elif (
        isinstance(value, np.ndarray | np.generic | bool | int | float | complex) and np.asarray(value).dtype != object
    ):
        made.update(f"{np.asarray(value).dtype} {np.shape(value)}".encode() + np.asarray(value).tobytes())
    return made.digest()


def each_block(function: Callable[..., Value], *args: Value) -> Value:
    """What `function` gives for the rows of this rank, behind a digest of what else it takes, the same on all ranks.

    Without rows it is None, unless no rank has any. An error takes the place of it, and tells the rows: none waits.
    """
    rows = next(a for a in args if isinstance(a, Rows))
    known = digest([a for a in args if not isinstance(a, Rows)])
    if not len(rows.own) and (len(rows) or all_ranks().Get_rank()):
        return known, None
    try:
        return known, function(*(a.own if isinstance(a, Rows) else a for a in args))
    except Exception as error:
        place = f"in the rows {rows.first} to {rows.first + len(rows.own) - 1}, which a rank has"
        vars(error)["__notes__"] = [*getattr(error, "__notes__", []), place]  # Python shows them from 3.11 on
        return _travelling(error, place)


def _travelling(error: Exception, place: str) -> Exception:
    """An error that other ranks can read."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever its class does there
        return RuntimeError(f"{type(error).__name__}: {error} ({place})")
    return error


def each_row(function: Callable[..., Value], like: Rows, *args: Value) -> Value:
    """What `function` gives for the rows of this rank, where it stays."""
    if not len(like.own):
        return np.empty_like(like.own)
    return np.asarray(function(*(a.own if isinstance(a, Rows) else a for a in args)), like.dtype)


def row_starts(rows: Rows) -> Rows:
    """The number of this rank's first row among all."""
    return Rows(np.array([rows.first]), rows.first, len(rows))


def allreduce(part: Value, merges: Sequence[Callable[[Value, Value], Value]] = ()) -> Value:
    """The sum of what the ranks give, or what `merges` make of it: the same bytes on all ranks, each time.

    Neighbours are added in pairs, pairs of pairs, and so on, and all get what rank 0 has then. MPI's own allreduce
    leaves the order of its sums open.
    """
    world, step = all_ranks(), 1
    rank, count = world.Get_rank(), world.Get_size()
    while step < count and not rank % step:
        if rank % (2 * step):
            world.send(part, rank - step)
        elif rank + step < count:
            part = _together(part, world.recv(source=rank + step), merges)
        step *= 2
    total = world.bcast(part)
    if isinstance(total, Exception):
        raise total
    return total[1]


def _together(one: Value, two: Value, merges: Sequence[Callable[[Value, Value], Value]]) -> Value:
    """What two ranks give together: the sums, where nothing else is said; an error, if one of them has one."""
    for part in (one, two):
        if isinstance(part, Exception):
            return part
    (known, first), (other, second) = one, two
    if known != other:
        what = "what has no rows is computed, and is another on some ranks; take it as an argument"
        return ValueError(f"E5029 not a sum over rows: {what}")
    if first is None or second is None:
        return known, second if first is None else first
    merge = merges or [operator.add] * len(first)
    return known, tuple(m(a, b) for m, a, b in zip(merge, first, second, strict=True))
