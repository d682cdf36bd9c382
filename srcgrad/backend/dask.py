"""The target dask: a block of rows is a task, and what blocks give is added up in a tree."""

from __future__ import annotations

from srcgrad.backend.spread_rows import Engine, sums_over_blocks
from srcgrad.core.facts import Facts
from srcgrad.core.target import Target
from srcgrad.derive.program import Program
from srcgrad.runtime.shards import each_block, each_row, row_starts, sharded, tree_reduce, tree_sum

ENGINE = Engine("dask", sharded, each_block, each_row, row_starts, tree_sum, tree_reduce)


def blocks_as_tasks(program: Program, facts: Facts) -> Program:
    """Make each loop over blocks of rows a function of a block; its sums are added up over the blocks, once.

    >>> import numpy as np, srcgrad
    >>> def loss(w, x):
    ...     return np.sum(np.sin(x @ w)) + w @ w
    >>> gradient = srcgrad.grad(loss, target="dask", shard={"x": 0}, chunks=2)
    >>> gradient(np.zeros(2), np.ones((3, 2)))
    array([3., 3.])
    """
    return sums_over_blocks(program, facts, ENGINE)


DASK = Target(
    "dask",
    passes=(blocks_as_tasks,),
    closures=False,
    spreads=True,
    no_items="there is no loop over items that are spread",
)
